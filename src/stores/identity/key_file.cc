#include "stores/identity/key_file.h"

#include "base/text/json_string.h"
#include "base/text/percent.h"

namespace trainyard::identity {
namespace {

constexpr std::string_view kGoogleUniverse = "googleapis.com";

void AddMember(std::string& json, std::string_view name, std::string_view value) {
  json.append(json.empty() ? "{\n  " : ",\n  ");
  json.append(text::QuoteJson(name)).append(": ").append(text::QuoteJson(value));
}

}  // namespace

std::string PrintKeyFile(const v1::ServiceAccount& account, std::string_view key_id,
                         std::string_view private_key_pem, const KeyFileServer& server) {
  std::string json;
  AddMember(json, "type", "service_account");
  AddMember(json, "project_id", account.project_id());
  AddMember(json, "private_key_id", key_id);
  AddMember(json, "private_key", private_key_pem);
  AddMember(json, "client_email", account.email());
  AddMember(json, "client_id", account.unique_id());
  AddMember(json, "auth_uri", server.url + "/o/oauth2/auth");
  AddMember(json, "token_uri", server.url + "/token");
  AddMember(json, "auth_provider_x509_cert_url", server.url + "/oauth2/v1/certs");
  AddMember(json, "client_x509_cert_url",
            server.url + "/robot/v1/metadata/x509/" + text::PercentEncode(account.email()));
  AddMember(json, "universe_domain",
            server.universe_domain.empty() ? kGoogleUniverse : std::string_view(server.universe_domain));
  return json + "\n}\n";
}

}  // namespace trainyard::identity
