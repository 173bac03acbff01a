#pragma once

#include <memory>
#include <string>

#include "cli/command_session.h"

namespace trainyard::cli {

/// --data, absolute.
[[nodiscard]] std::string AdminDataDir(const Arguments& arguments, const SettingSources& sources);

/// The server of --data, or the one that --server and the settings name, as the commands of `admin` ask it.
/// Outlives nothing: it has its own copy of the arguments.
class AdminServer {
 public:
  /// kNotFound: no server has run with the data directory; kPermissionDenied: it is another account's.
  [[nodiscard]] static Result<std::unique_ptr<AdminServer>> Find(const LocalSession& session);

  /// "/trainyard/v1/admin/" and `path`; an empty body is a GET.
  [[nodiscard]] Result<Json> Get(const std::string& path);
  [[nodiscard]] Result<Json> Post(const std::string& path, const Json& body);
  [[nodiscard]] const CommandSession& session() const noexcept { return opened_->session; }
  [[nodiscard]] ApiClient& client() noexcept { return local_ ? *local_ : *opened_->client; }
  /// From now on by the server's own socket, where it is the server of `data` and this account may: it then
  /// knows that the request comes from its machine. False: as before.
  [[nodiscard]] Result<bool> UseSocket(const std::string& data);

 private:
  explicit AdminServer(Arguments arguments) : arguments_(std::move(arguments)) {}
  Arguments arguments_;
  std::unique_ptr<OpenedSession> opened_;
  std::unique_ptr<ApiClient> local_;
};

}  // namespace trainyard::cli
