#include "cli/clients/client_credentials.h"

#include <utility>

#include "base/async/file.h"
#include "base/tls/certificate.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {
namespace {

constexpr mode_t kOwnersFile = 0600;

/// Made once: making one takes a tenth of a second.
Result<std::string> Key(const FoundServer& found, const SettingSources& sources) {
  const std::string path = found.data_dir + "/run/client-key.pem";
  if (std::optional<std::string> kept = sources.read_file(path); kept && tls::ParsePrivateKey(*kept))
    return *std::move(kept);
  TY_TRY(const tls::PrivateKey key, tls::MakeSigningKey());
  TY_TRY(std::string text, tls::PrintPrivateKey(key));
  TY_RETURN_IF_ERROR(WriteFileAtomically(path, text, kOwnersFile));
  return text;
}

std::string UniverseOf(const FoundServer& found, Universe universe) {
  if (universe == Universe::kGoogles) return "googleapis.com";
  return "localhost" + found.tls_url.substr(found.tls_url.rfind(':'));
}

}  // namespace

std::optional<std::string> DefaultCredentialsFile(const SettingSources& sources) {
  std::string path = GcloudFolder(sources) + "/application_default_credentials.json";
  if (!sources.read_file(path)) return std::nullopt;
  return path;
}

Result<std::string> StandInCredentials(const FoundServer& found, const SettingSources& sources,
                                       Universe universe) {
  if (!DefaultCredentialsFile(sources)) return std::string();
  TY_TRY(const std::string key, Key(found, sources));
  Json json = JsonObject();
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"type", "service_account"},
           {"project_id", found.project},
           {"private_key_id", "trainyard"},
           {"private_key", key},
           {"client_email", "trainyard@localhost"},
           {"client_id", "0"},
           {"auth_uri", "https://accounts.google.com/o/oauth2/auth"},
           {"token_uri", "https://oauth2.googleapis.com/token"}})
    SetMember(json, name, JsonString(value));
  SetMember(json, "universe_domain", JsonString(UniverseOf(found, universe)));
  const std::string text = PrintIndented(json) + "\n";
  std::string path = found.data_dir + (universe == Universe::kGoogles ? "/run/with-credentials.json"
                                                                      : "/run/client-credentials.json");
  if (sources.read_file(path) != text) TY_RETURN_IF_ERROR(WriteFileAtomically(path, text, kOwnersFile));
  return path;
}

}  // namespace trainyard::cli
