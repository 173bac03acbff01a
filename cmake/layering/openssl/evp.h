#error "a pure folder must not see <openssl/evp.h>: move the effect to the edge (docs/architecture.md)"
