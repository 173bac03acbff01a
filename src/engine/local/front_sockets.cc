#include "engine/local/front_sockets.h"

#include <utility>

#include "base/async/diagnostics.h"
#include "net/front/front_address.h"

namespace trainyard::engine {

namespace {

/// Chooses the front's address and listens there.
Result<std::string> TakeAddress(const ListenOn& listen, const std::string& file, std::uint16_t port,
                                http::ListeningSocket& tls) {
  return front::TakeFrontAddress(file, [&](const std::string& address) -> Status {
    TY_TRY(tls, listen(address, port));
    return {};
  });
}

/// Binds the ports that the clients of the previous process know, or new ones if another program has these on
/// every address.
Status BindBehindDoors(const FrontPlace& place, const ListenOn& listen, front::FrontPorts& ports,
                       FrontSockets& sockets) {
  Result<std::string> address = TakeAddress(listen, place.address_file, ports.tls, sockets.tls);
  if (!address && address.error().code == Code::kAlreadyExists) {
    ports = front::RandomFrontPorts();
    TY_RETURN_IF_ERROR(front::KeepFrontPorts(place.ports_file, ports));
    address = TakeAddress(listen, place.address_file, ports.tls, sockets.tls);
  }
  TY_TRY(sockets.address, std::move(address));
  return {};
}

}  // namespace

Result<FrontSockets> BindFront(const FrontPlace& place, const ListenOn& listen,
                               const std::function<Status()>& check_doors) {
  FrontSockets sockets;
  TY_TRY(front::FrontPorts ports, front::TakeFrontPorts(place.ports_file));
  if (Result<std::string> address =
          TakeAddress(listen, place.address_file, FrontSockets::kTlsPort, sockets.tls)) {
    sockets.address = *std::move(address);
  } else {
    TY_RETURN_IF_ERROR(BindBehindDoors(place, listen, ports, sockets));
  }
  Result<http::ListeningSocket> plain = listen(sockets.address, FrontSockets::kPlainPort);
  const Status doors = plain && sockets.tls.port == FrontSockets::kTlsPort ? Status() : check_doors();
  if (!doors && sockets.tls.port != FrontSockets::kTlsPort) return std::unexpected(doors.error());
  if (!plain && doors) plain = listen(sockets.address, ports.plain);
  if (plain) {
    sockets.plain = *std::move(plain);
  } else {
    Diagnose(DiagnosticLevel::kWarning, "there is no metadata server under Google's names at " +
                                            sockets.address + ": " + plain.error().message +
                                            "; who asks there gets the token that all share");
  }
  return sockets;
}

void DescribeFront(const FrontSockets& sockets, replica::v1::GoogleFront& told) {
  told.set_address(sockets.address);
  if (sockets.tls.port != FrontSockets::kTlsPort) told.set_tls_port(sockets.tls.port);
  if (sockets.plain && sockets.plain->port != FrontSockets::kPlainPort)
    told.set_plain_port(sockets.plain->port);
}

}  // namespace trainyard::engine
