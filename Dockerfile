# lameduck as an image, in two targets:
#
#   docker build --target nftables -t lameduck:nftables .    nothing but the binary: it speaks netlink itself
#   docker build --target iptables -t lameduck:iptables .    with the tools of iptables, nft and legacy, which that mode runs
#
# The binary is static, and the same bytes for the same sources, Go and arguments; that, and that the first target needs no other
# file, is tested without an engine (test/deploy). VERSION and REVISION are told, since .git is not part of the build.

FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY docs/model docs/model
COPY endpoints endpoints
COPY examples/lessons examples/lessons
COPY healthcheck healthcheck
COPY proxier proxier
COPY sim sim
ARG TARGETOS=linux
ARG TARGETARCH=amd64
ARG VERSION=(devel)
ARG REVISION=
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -mod=readonly -buildvcs=false -trimpath \
    -ldflags "-s -w -buildid= -X 'github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/cli.stampedVersion=$VERSION' -X 'github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/cli.stampedRevision=$REVISION'" \
    -o /out/lameduck ./cmd/lameduck

# The base of kube-proxy's own image (Kubernetes 1.36.3 build/common.sh; read): distroless, with iptables-nft, iptables-legacy and
# what they load. Its wrapper that chooses between them writes into its root, which is read-only here: say --iptables-variant.
FROM registry.k8s.io/build-image/distroless-iptables:v0.9.6 AS iptables
ARG VERSION=(devel)
ARG REVISION=
LABEL org.opencontainers.image.title="lameduck" \
      org.opencontainers.image.description="A node's service proxy in mode iptables or nftables, and what a rollout does to traffic" \
      org.opencontainers.image.source="https://github.com/lameduck-proxy/lameduck" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /out/lameduck /usr/local/bin/lameduck
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/lameduck"]

# The last target is what is built when none is named. Nobody's user suffices for everything but `lameduck proxy`, whose
# manifests ask for uid 0 with CAP_NET_ADMIN and nothing else.
FROM scratch AS nftables
ARG VERSION=(devel)
ARG REVISION=
LABEL org.opencontainers.image.title="lameduck" \
      org.opencontainers.image.description="A node's service proxy in mode nftables, and what a rollout does to traffic" \
      org.opencontainers.image.source="https://github.com/lameduck-proxy/lameduck" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /out/lameduck /usr/local/bin/lameduck
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/lameduck"]
