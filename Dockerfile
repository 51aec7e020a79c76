# Two images, each one file on a base without a shell:
#
#   docker build --target collapser --tag collapser --build-arg COMMIT=$(git rev-parse --short=12 HEAD) .
#   docker build --target backend --tag collapser-backend .   # the demo's backend
#
# podman and buildah take the same arguments; they keep HEALTHCHECK only with --format docker. `--platform linux/arm64`
# makes the other kind: Deno compiles for it on this machine, and nothing is emulated.
#
# Both base images are arguments, and nothing else names them.
#
# Where Deno's download site cannot be reached, DENO_IMAGE can be an image of your own that has a denort of the same
# version and its path in the variable DENORT_BIN; with the packages in its DENO_DIR, the build needs no network.

# The Debian one: the image that has Deno alone (bin-2.9.6) has no C library to run it with. Only the binary leaves it.
ARG DENO_IMAGE=docker.io/denoland/deno:debian-2.9.6
# glibc and libgcc, which Deno needs, certificates, time zones, the user 65532, and no shell.
# By digest, which does not move as the tag does; of the index, so that it holds for both architectures. Debian 13 is
# looked after until a year after Debian 14.
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian13:nonroot@sha256:54df941ed0d06a1bd95ef5e0ce391fd8d9f94b64782dc9a60062727849ee3f97
# What the labels say. The version is that of deno.json; git does not come along, so the commit must be told.
ARG VERSION=0.1.0
ARG COMMIT=unknown

# Docker's old builder, which knows no BUILDPLATFORM, can do this on amd64.
FROM --platform=${BUILDPLATFORM:-linux/amd64} ${DENO_IMAGE} AS build
WORKDIR /build
# The packages are fetched again when their list changes, not when the program does.
COPY deno.json deno.lock ./
RUN ["deno", "install", "--frozen"]
COPY . ./
# In the environment of the next step: what the bundle says of itself, and what to compile for.
ARG COMMIT
ARG TARGETARCH
RUN ["deno", "run", "-A", "build/compile.ts"]

FROM ${RUNTIME_IMAGE} AS program
ARG RUNTIME_IMAGE
ARG VERSION
ARG COMMIT
LABEL org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="https://github.com/collapser/collapser" \
      org.opencontainers.image.url="https://github.com/collapser/collapser" \
      org.opencontainers.image.documentation="https://github.com/collapser/collapser#readme" \
      org.opencontainers.image.base.name="${RUNTIME_IMAGE}"
# As numbers, so that Kubernetes can tell that it is not root.
USER 65532:65532
# The program is PID 1 and has handlers from its first moment: it drains, and ends with 0.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/collapser"]
COPY --from=build /build/dist/collapser /collapser

# The demo's backend. Whoever calls it is in another container, so not on the loopback address alone.
FROM program AS backend
LABEL org.opencontainers.image.title="collapser-backend" \
      org.opencontainers.image.description="The slow, counting gRPC backend of collapser's demo"
EXPOSE 50051
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["/collapser", "healthcheck", "--address", "127.0.0.1:50051", "--service", "hello.v1.Hello"]
CMD ["backend", "--host", "0.0.0.0"]

# Last, so that it is what a build without a target makes.
FROM program AS collapser
LABEL org.opencontainers.image.title="collapser" \
      org.opencontainers.image.description="A gRPC sidecar that lets one backend call answer all who ask the same at the same time"
EXPOSE 50052 2112
# Over HTTP, which is the same with and without TLS towards callers. Where METRICS_PORT is another, --health-cmd says it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["/collapser", "healthcheck", "--http", "http://127.0.0.1:2112/health"]
CMD ["serve"]
