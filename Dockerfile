# The API as `drawbridge serve` runs it, without a bridge. docs/hosting.md shows how to run it behind a proxy.
FROM node:24-slim AS build
WORKDIR /src
COPY . .
# `npm ci` fails where the lock file lacks another platform's packages.
RUN npm install --no-audit --no-fund
RUN npm pack --silent --pack-destination /tmp

# workerd needs glibc, which Alpine lacks.
FROM node:24-slim
COPY --from=build /tmp/drawbridge-agent-*.tgz /tmp/
RUN npm install --global --no-audit --no-fund /tmp/drawbridge-agent-*.tgz && rm /tmp/drawbridge-agent-*.tgz
RUN mkdir --mode 700 /state && chown node:node /state
USER node
VOLUME /state
EXPOSE 8787
HEALTHCHECK --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:8787/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["drawbridge"]
CMD ["serve", "--host", "0.0.0.0", "--state", "/state"]
