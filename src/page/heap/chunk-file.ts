import { type FileHandle, open, rm } from 'node:fs/promises';

/** Above this many bytes that wait for the disk the writer asks for a pause, below half of it for more. */
const HIGH_WATER = 16 * 1024 * 1024;

/** A file that is written as its parts come in: in order, with a pause where the disk is slower than the source. */
export class ChunkFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #hold: () => () => void;
  #resume: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #written = 0;
  #fault: unknown;

  private constructor(path: string, handle: FileHandle, hold: () => () => void) {
    this.path = path;
    this.#handle = handle;
    this.#hold = hold;
  }

  /**
   * Makes a new file, readable by its owner alone.
   * @param hold stops the source until the function that it gives is called
   */
  static async create(path: string, hold: () => () => void): Promise<ChunkFile> {
    return new ChunkFile(path, await open(path, 'wx', 0o600), hold);
  }

  /** Bytes taken so far. */
  get bytes(): number {
    return this.#written;
  }

  append(text: string): void {
    if (this.#fault !== undefined) return;
    const bytes = Buffer.from(text);
    this.#written += bytes.length;
    this.#waiting += bytes.length;
    if (this.#waiting > HIGH_WATER) this.#resume ??= this.#hold();
    this.#last = this.#last.then(() => this.#write(bytes));
  }

  /** Waits until all is on disk. @throws Error of the file system */
  async close(): Promise<void> {
    await this.#last;
    this.#release();
    await this.#handle.close();
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Closes the file and removes it. */
  async discard(): Promise<void> {
    this.#fault ??= new Error('discarded');
    await this.#last;
    this.#release();
    await this.#handle.close();
    await rm(this.path, { force: true });
  }

  async #write(bytes: Buffer): Promise<void> {
    try {
      if (this.#fault === undefined) await this.#handle.appendFile(bytes);
    } catch (error) {
      this.#fault = error;
    }
    this.#waiting -= bytes.length;
    if (this.#waiting < HIGH_WATER / 2) this.#release();
  }

  #release(): void {
    this.#resume?.();
    this.#resume = undefined;
  }
}
