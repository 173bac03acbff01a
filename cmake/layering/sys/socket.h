#error "a pure folder must not see <sys/socket.h>: move the effect to the shell (docs/architecture.md)"
