#error "a pure folder must not see <sys/socket.h>: move the effect to the edge (docs/architecture.md)"
