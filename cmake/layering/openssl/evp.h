#error "a pure folder must not see <openssl/evp.h>: move the effect to the shell (docs/architecture.md)"
