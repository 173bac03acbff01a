#error "a pure folder must not see <boost/asio/thread_pool.hpp>: move the effect to the edge (docs/architecture.md)"
