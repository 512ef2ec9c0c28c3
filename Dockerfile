# syntax=docker/dockerfile:1
# Both images can be pinned by digest: --build-arg GO_IMAGE=golang:1.26-bookworm@sha256:...
ARG GO_IMAGE=golang:1.26-bookworm
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot
FROM ${GO_IMAGE} AS build
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make static VERSION=$VERSION && mkdir -p /out/data /out/workspace

FROM ${BASE_IMAGE}
COPY --from=build /src/bin/kioku /usr/local/bin/kioku
COPY --from=build --chown=nonroot:nonroot /out/data /data
COPY --from=build --chown=nonroot:nonroot /out/workspace /workspace
ENV KIOKU_STATE=/data KIOKU_WORKSPACE=/workspace
VOLUME ["/data", "/workspace"]
HEALTHCHECK --interval=30s --timeout=3s CMD ["/usr/local/bin/kioku", "status", "--json", "--socket", "/data/kioku.sock"]
# The socket under /data serves this container. To publish a port, mount a token file and a certificate and add
#   --listen 0.0.0.0:7600 --token-file /run/secrets/kioku-tokens --tls-cert /run/secrets/cert.pem --tls-key /run/secrets/key.pem
ENTRYPOINT ["/usr/local/bin/kioku"]
CMD ["serve", "--listen", "none"]
