# An image with one static binary: `docker build -t sparring .`, then
# `docker run sparring bot --help`.
FROM golang:1.26-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/sparring ./cmd/sparring \
 && mkdir -p /out/data

# Alpine has CA certificates, and wget for the health checks.
FROM alpine:3
COPY --from=build /out/sparring /usr/local/bin/sparring
COPY --from=build --chown=65532:65532 /out/data /data
COPY configs/bots.json /etc/sparring/bots.json
USER 65532:65532
WORKDIR /
VOLUME /data
ENV SPARRING_DATA=/data
# On SIGTERM a bot finishes its games. On the second one it hands them over.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/sparring"]
CMD ["--help"]
