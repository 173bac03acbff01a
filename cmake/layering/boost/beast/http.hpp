#error "a pure folder must not see <boost/beast/http.hpp>: move the effect to the edge (docs/architecture.md)"
