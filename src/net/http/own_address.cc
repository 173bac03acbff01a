#include "net/http/own_address.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace trainyard::http {

/// Nobody else's address can be bound.
bool IsOwnAddress(const boost::asio::ip::address& address) {
  using boost::asio::ip::tcp;
  boost::asio::io_context unused;
  tcp::acceptor socket(unused);
  boost::system::error_code error;
  socket.open(address.is_v4() ? tcp::v4() : tcp::v6(), error);
  if (!error) socket.bind({address, 0}, error);
  return !error;
}

}  // namespace trainyard::http
