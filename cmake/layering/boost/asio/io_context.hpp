#error "a pure folder must not see <boost/asio/io_context.hpp>: move the effect to the edge (docs/architecture.md)"
