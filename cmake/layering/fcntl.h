#error "a pure folder must not see <fcntl.h>: move the effect to the edge (docs/architecture.md)"
