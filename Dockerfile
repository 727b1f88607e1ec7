# Airlock in a container: docs/docker.md says how to run it, and what of this file was tried.

ARG NODE_IMAGE=node:26-trixie-slim

# --- compile --------------------------------------------------------------------------------------------------------
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No install scripts: the only one is of the npm package "node", and the image has its own Node.
RUN npm ci --ignore-scripts --loglevel=error
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run --silent build

# --- what it needs to run -------------------------------------------------------------------------------------------
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --loglevel=error

# --- the image ------------------------------------------------------------------------------------------------------
FROM ${NODE_IMAGE}
# tini reaps what Chrome leaves to process 1: its crash handlers, and helpers of a Chrome that was killed.
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    chromium-headless-shell fonts-liberation fonts-noto-color-emoji tini \
  && rm -rf /var/lib/apt/lists/*
# It holds the token, and the profiles that stay: keep it on a volume, and nobody but the service reads it.
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin airlock \
  && install -d -o airlock -g airlock -m 0700 /var/lib/airlock
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
ENV NODE_ENV=production
USER airlock
VOLUME /var/lib/airlock
EXPOSE 7320
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7320/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Flags that are given to `docker run` come after these.
ENTRYPOINT ["tini", "--", "node", "/app/dist/main.js", "--host", "0.0.0.0", "--state-dir", "/var/lib/airlock", "--data-dir", "/var/lib/airlock"]
