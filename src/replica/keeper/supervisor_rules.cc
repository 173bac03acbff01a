#include "replica/keeper/supervisor_rules.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace trainyard::keeper {

namespace {

/// Settings of pip, uv and others for networks, certificates and indexes. None of them names a program.
constexpr std::array<std::string_view, 34> kSettings{"HTTP_PROXY",
                                                     "HTTPS_PROXY",
                                                     "NO_PROXY",
                                                     "ALL_PROXY",
                                                     "FTP_PROXY",
                                                     "http_proxy",
                                                     "https_proxy",
                                                     "no_proxy",
                                                     "all_proxy",
                                                     "ftp_proxy",
                                                     "SSL_CERT_FILE",
                                                     "SSL_CERT_DIR",
                                                     "CURL_CA_BUNDLE",
                                                     "REQUESTS_CA_BUNDLE",
                                                     "PIP_INDEX_URL",
                                                     "PIP_EXTRA_INDEX_URL",
                                                     "PIP_FIND_LINKS",
                                                     "PIP_NO_INDEX",
                                                     "PIP_TRUSTED_HOST",
                                                     "PIP_CERT",
                                                     "PIP_TIMEOUT",
                                                     "PIP_DEFAULT_TIMEOUT",
                                                     "PIP_RETRIES",
                                                     "PIP_CONFIG_FILE",
                                                     "PIP_PRE",
                                                     "UV_INDEX",
                                                     "UV_DEFAULT_INDEX",
                                                     "UV_INDEX_URL",
                                                     "UV_EXTRA_INDEX_URL",
                                                     "UV_FIND_LINKS",
                                                     "UV_NO_INDEX",
                                                     "UV_HTTP_TIMEOUT",
                                                     "UV_INSECURE_HOST",
                                                     "UV_INDEX_STRATEGY"};

std::string_view NameOf(std::string_view line) { return line.substr(0, line.find('=')); }

bool IsSetting(std::string_view name) {
  return name == "LANG" || name == "LANGUAGE" || name == "TZ" || name.starts_with("LC_") ||
         std::ranges::find(kSettings, name) != kSettings.end();
}

/// "--descriptors=1024"
bool IsOption(std::string_view argument) {
  if (!argument.starts_with("--")) return false;
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos || equals + 1 == argument.size()) return false;
  const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::all_of(argument.substr(0, equals), is_name) &&
         std::ranges::all_of(argument.substr(equals + 1), is_digit);
}

bool IsFolder(std::string_view path) {
  return path.starts_with('/') && !(std::string(path) + "/").contains("/../");
}

}  // namespace

Result<StartRequest> AsSupervisor(StartRequest request, const std::string& program,
                                  const std::vector<std::string>& variables) {
  const auto refuse = [&program](const std::string& why) {
    return std::unexpected(Error{Code::kPermissionDenied,
                                 "the keeper starts nothing but " + program + " as a supervisor, and " + why,
                                 {}});
  };
  if (request.program() != program) return refuse("not " + request.program());
  const auto& words = request.arguments();
  if (words.size() < 3 || words.size() > kArgumentsMax || words[1] != "replica")
    return refuse("these are not the arguments of one");
  if (!std::all_of(words.begin() + 2, words.end() - 1, IsOption) || !IsFolder(*words.rbegin()))
    return refuse("these are not the arguments of one");
  std::vector<std::string> environment = variables;
  for (std::string& line : *request.mutable_environment()) {
    if (!IsSetting(NameOf(line)) || !line.contains('=')) continue;
    std::erase_if(environment, [&line](const std::string& own) { return NameOf(own) == NameOf(line); });
    environment.push_back(std::move(line));
  }
  request.mutable_environment()->Assign(environment.begin(), environment.end());
  return request;
}

}  // namespace trainyard::keeper
