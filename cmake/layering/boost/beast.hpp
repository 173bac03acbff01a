#error "a pure folder must not see <boost/beast.hpp>: move the effect to the edge (docs/architecture.md)"
