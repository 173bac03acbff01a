#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http/listening_socket.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

/// Google's ports on a loopback address of a front's own, or others to which connections are led
/// (docs/adr/0028-doors-without-port-443.md).
struct FrontSockets {
  static constexpr std::uint16_t kTlsPort = 443;   ///< TensorFlow's URLs have no port
  static constexpr std::uint16_t kPlainPort = 80;  ///< nor has the metadata server's

  std::string address;  ///< numeric
  http::ListeningSocket tls;
  std::optional<http::ListeningSocket> plain;  ///< nothing: there is no port for it
};

/// Files in which a front's address and ports are kept, so that replicas find the next process there.
struct FrontPlace {
  std::string address_file;
  std::string ports_file;
};

/// http::ListenOnTcp, or one that looks first what is open already.
using ListenOn = std::function<Result<http::ListeningSocket>(const std::string& address, std::uint16_t port)>;

/// Google's port 443 and 80 if they are to be had (they take rights, and a web server of the machine has them
/// on all addresses), else others. No port for plain HTTP is said to the operator, and no error.
///
/// @param check_doors  whether connections can be led to other ports: asked if need be.
/// @return the error of check_doors, of `listen` or of the file system. Blocking.
[[nodiscard]] Result<FrontSockets> BindFront(const FrontPlace& place, const ListenOn& listen,
                                             const std::function<Status()>& check_doors);

/// Says in `told` where the front listens. Pure.
void DescribeFront(const FrontSockets& sockets, replica::v1::GoogleFront& told);

}  // namespace trainyard::engine
