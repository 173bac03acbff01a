#include "cli/auth/access_token.h"

#include <array>
#include <filesystem>
#include <optional>

#include "base/ascii.h"
#include "base/async/file.h"
#include "cli/auth/logins.h"
#include "cli/terminal_input.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kTokenBytesMax = std::size_t{64} << 10;

/// Environment variables with a token, or with the name of a file that has one, in their order.
struct Variable {
  const char* name;
  bool is_file;
};
constexpr std::array<Variable, 4> kVariables{{{"TRAINYARD_TOKEN", false},
                                              {"TRAINYARD_TOKEN_FILE", true},
                                              {"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", true},
                                              {"CLOUDSDK_AUTH_ACCESS_TOKEN", false}}};

Result<ClientToken> FromFile(const std::string& path, std::string source) {
  Result<std::string> text = ReadTokenFile(path);
  if (text) return ClientToken{.text = *std::move(text), .source = std::move(source)};
  text.error().message = "Cannot read the token that " + source + " names: " + text.error().message;
  return std::unexpected(std::move(text).error());
}

bool IsServerOf(const ServerNote& note, const std::string& server) {
  const std::string plain = PlainServer(server);
  return note.auth && (plain == PlainServer(note.url) || plain == PlainServer(note.tls_url));
}

}  // namespace

std::string DataDirOf(const Arguments& arguments, const SettingSources& sources) {
  if (const auto named = arguments.Value("--data"))
    return std::filesystem::absolute(*named).lexically_normal().string();
  return DefaultDataDir(sources);
}

Result<ClientSetting> ServerOf(const Arguments& arguments, const SettingSources& sources) {
  if (!arguments.Has("--data") || arguments.Has("--server"))
    return FindServer(sources, arguments.Value("--server"));
  const std::string data_dir = DataDirOf(arguments, sources);
  if (const auto note = ReadServerNote(sources, data_dir))
    return ClientSetting{note->url, data_dir + "/run/server.json"};
  if (const std::string forbidden = WhyNoteIsForbidden(sources, data_dir); !forbidden.empty())
    return std::unexpected(Error{Code::kPermissionDenied, forbidden, ""});
  return std::unexpected(NotFound("No server has run with the data directory " + data_dir +
                                  ". Start one: trainyard serve --data " + data_dir));
}

std::string AdministratorsTokenFile(const std::string& data_dir) { return data_dir + "/admin-token"; }

Result<std::string> ReadTokenFile(const std::string& path) {
  TY_TRY(const std::string text, path == "-" ? ReadInput(true) : ReadFile(path, kTokenBytesMax));
  std::string token(TrimSpace(text));
  if (token.empty()) return std::unexpected(InvalidArgument("", "[" + path + "] is empty"));
  return token;
}

Result<ClientToken> FindToken(const Arguments& arguments, const SettingSources& sources,
                              const std::string& data_dir, const std::string& server) {
  if (const auto path = arguments.Value("--access-token-file")) return FromFile(*path, "--access-token-file");
  for (const Variable& variable : kVariables) {
    const auto value = sources.variable(variable.name);
    if (!value) continue;
    if (variable.is_file) return FromFile(*value, variable.name);
    return ClientToken{.text = std::string(TrimSpace(*value)), .source = variable.name};
  }
  const ServerLogins kept = ReadLogins(sources);
  if (const ServerLogin* login = kept.Find(server); login != nullptr)
    return ClientToken{.text = login->token, .source = "trainyard auth login"};
  const std::optional<ServerNote> note = ReadServerNote(sources, data_dir);
  if (!note || !IsServerOf(*note, server)) return ClientToken{};
  const std::string path = AdministratorsTokenFile(data_dir);
  const auto own = sources.read_file(path);
  return own ? ClientToken{.text = std::string(TrimSpace(*own)), .source = path} : ClientToken{};
}

}  // namespace trainyard::cli
