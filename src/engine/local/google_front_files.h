#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http/listening_socket.h"
#include "trainyard/replica/v1/replica.pb.h"

/// The files that replicas read about the front that answers to Google's host names
/// (docs/adr/0012-google-front.md). Each node has them. Blocking.
namespace trainyard::engine {

/// Google's ports on a loopback address of the front, or other ports to which connections are redirected
/// (docs/adr/0028-doors-without-port-443.md).
struct FrontSockets {
  static constexpr std::uint16_t kTlsPort = 443;   ///< TensorFlow's URLs have no port
  static constexpr std::uint16_t kPlainPort = 80;  ///< nor has the metadata server's

  std::string address;  ///< numeric
  http::ListeningSocket tls;
  std::optional<http::ListeningSocket> plain;  ///< empty: there is no port for it
};

/// Files that record a front's address and ports, so that the next process listens there and replicas find
/// it.
struct FrontPlace {
  std::string address_file;
  std::string ports_file;
};

/// http::ListenOnTcp, or a function that first looks whether the socket is already open.
using ListenOn = std::function<Result<http::ListeningSocket>(const std::string& address, std::uint16_t port)>;

/// Listens on Google's ports 443 and 80 if possible (they need privileges, and a web server of this machine
/// may have them on all addresses), otherwise on others. If there is no port for plain HTTP, the operator
/// gets a message; it is no error.
///
/// @param check_doors  whether connections can be redirected to other ports; called only if that is needed.
/// @return the error of check_doors, of `listen` or of the file system. Blocking.
[[nodiscard]] Result<FrontSockets> BindFront(const FrontPlace& place, const ListenOn& listen,
                                             const std::function<Status()>& check_doors);

/// Fills in `told` where the front listens. Pure.
void DescribeFront(const FrontSockets& sockets, replica::v1::GoogleFront& told);

struct GoogleFrontFiles {
  std::string authority;  ///< a PEM file: the installation's certificate authority
  std::string folder;     ///< the directory in which the files are written
  std::string bundle;     ///< the file with all authorities, also written
  std::string project;    ///< in gsutil's settings
};

/// Writes the CA bundle, a file with the installation's authority alone, and the settings of curl, Java and
/// gsutil that name them. Files that already have the right contents are left alone. A file that cannot be
/// written does not keep the server from starting, since the server may have to free disk space first: a
/// message says so, and CompleteGoogleFrontFiles tries again. An error: there is no authority.
[[nodiscard]] Status WriteGoogleFrontFiles(const GoogleFrontFiles& files);

/// Writes the files that the last WriteGoogleFrontFiles of this process could not write. Call it before a
/// replica starts. Any thread. kUnavailable: they still cannot be written.
[[nodiscard]] Status CompleteGoogleFrontFiles();

/// Makes sure that there is a directory /gcs on which replicas can mount the buckets: an empty one of this
/// machine, created if needed, or, if we may not create it, one in the replica's own root.
/// kFailedPrecondition: /gcs is not empty and so is used for something else. Call it before there are other
/// threads.
[[nodiscard]] Status EnsureGcsFolder();

}  // namespace trainyard::engine
