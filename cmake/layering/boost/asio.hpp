#error "a pure folder must not see <boost/asio.hpp>: move the effect to the edge (docs/architecture.md)"
