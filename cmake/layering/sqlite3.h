#error "a pure folder must not see <sqlite3.h>: move the effect to the edge (docs/architecture.md)"
