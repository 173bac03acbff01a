#include "cli/admin/admin_server.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

namespace trainyard::cli {

namespace {

constexpr const char* kRoot = "/trainyard/v1/admin/";

}  // namespace

std::string AdminDataDir(const Arguments& arguments, const SettingSources& sources) {
  std::string path = std::filesystem::absolute(arguments.Value("--data").value_or(DefaultDataDir(sources)))
                         .lexically_normal()
                         .string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<std::unique_ptr<AdminServer>> AdminServer::Find(const LocalSession& session) {
  std::unique_ptr<AdminServer> server(new AdminServer(session.arguments));
  if (session.arguments.Has("--data") && !session.arguments.Has("--server")) {
    const std::string data = AdminDataDir(session.arguments, session.sources);
    if (const std::string forbidden = WhyNoteIsForbidden(session.sources, data); !forbidden.empty())
      return std::unexpected(Error{Code::kPermissionDenied, forbidden, ""});
    const std::optional<ServerNote> note = ReadServerNote(session.sources, data);
    if (!note)
      return std::unexpected(NotFound("No server has run with the data directory " + data +
                                      ". Start one: trainyard serve --data " + data));
    server->arguments_.flags["--server"] = {note->url};
  }
  TY_TRY(OutputFormat format, session.Format());
  TY_TRY(OpenedSession opened,
         OpenSession({server->arguments_, session.sources, session.console}, "trainyard"));
  opened.session.format = std::move(format);
  server->opened_ = std::make_unique<OpenedSession>(std::move(opened));
  return server;
}

Result<bool> AdminServer::UseSocket(const std::string& data) {
  const std::optional<ServerNote> note = ReadServerNote(session().sources, data);
  const std::string socket = data + "/run/admin.sock";
  const std::string& server = session().server.value;
  const bool is_its = note && (note->url == server || note->tls_url == server);
  if (!is_its || ::access(socket.c_str(), W_OK) != 0) return false;
  TY_TRY(local_, MakeApiClient({.url = "unix:" + socket, .token = session().token}));
  return true;
}

Result<Json> AdminServer::Get(const std::string& path) { return CallJson(client(), {.path = kRoot + path}); }

Result<Json> AdminServer::Post(const std::string& path, const Json& body) {
  return PostJson(client(), kRoot + path, body);
}

}  // namespace trainyard::cli
