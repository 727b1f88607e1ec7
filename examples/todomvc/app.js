// TodoMVC in Vue: routed by the hash (#/all, #/active, #/completed), kept in localStorage.
import { createApp } from 'vue';

const storageKey = 'todomvc-vue';

const filters = {
  all: () => true,
  active: (todo) => !todo.done,
  completed: (todo) => todo.done,
};

function load() {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]');
  } catch {
    return []; // another version of the page wrote something else
  }
}

function filterOfHash() {
  const name = location.hash.replace(/^#\/?/, '');
  return name in filters ? name : 'all';
}

createApp({
  data: () => ({ todos: load(), draft: '', edited: null, editText: '', filter: filterOfHash(), filters }),

  computed: {
    shown() {
      return this.todos.filter(filters[this.filter]);
    },
    left() {
      return this.todos.filter(filters.active).length;
    },
    allDone: {
      get() {
        return this.left === 0;
      },
      set(done) {
        for (const todo of this.todos) todo.done = done;
      },
    },
  },

  watch: {
    todos: {
      deep: true,
      handler(todos) {
        localStorage.setItem(storageKey, JSON.stringify(todos));
      },
    },
  },

  mounted() {
    addEventListener('hashchange', () => {
      this.filter = filterOfHash();
    });
  },

  methods: {
    add() {
      const title = this.draft.trim();
      if (title === '') return;
      this.todos.push({ id: crypto.randomUUID(), title, done: false });
      this.draft = '';
    },
    remove(todo) {
      this.todos.splice(this.todos.indexOf(todo), 1);
    },
    clearDone() {
      this.todos = this.todos.filter(filters.active);
    },
    startEdit(todo) {
      this.edited = todo;
      this.editText = todo.title;
    },
    finishEdit() {
      const todo = this.edited;
      if (todo === null) return; // Escape has ended it, and the field has lost the focus after
      this.edited = null;
      todo.title = this.editText.trim();
      if (todo.title === '') this.remove(todo);
    },
    cancelEdit() {
      this.edited = null;
    },
  },
}).mount('#app');
