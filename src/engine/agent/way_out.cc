#include "engine/agent/way_out.h"

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "net/http/client_socket.h"

namespace trainyard::agent {

namespace {

constexpr std::string_view kUsualIndex = "https://pypi.org";
/// In the order in which they take effect.
constexpr std::array kIndexSettings{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"};
constexpr std::array kNoIndexSettings{"UV_NO_INDEX", "PIP_NO_INDEX"};
constexpr std::array kProxySettings{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"};

using Variables = std::map<std::string, std::optional<std::string>>;

bool HasAny(const Variables& variables, const auto& names) {
  return std::ranges::any_of(names, [&variables](const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() && found->second && !found->second->empty();
  });
}

/// "https://host:port" of "name=https://user:password@host:port/simple".
std::string OriginOf(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::size_t name = url.substr(0, scheme).rfind('=');
  const std::size_t begin = name == std::string_view::npos ? 0 : name + 1;
  std::string_view authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?# "));
  const std::size_t user = authority.rfind('@');
  if (user != std::string_view::npos) authority.remove_prefix(user + 1);
  return std::string(url.substr(begin, scheme + 3 - begin)) + std::string(authority);
}

}  // namespace

std::optional<http::Endpoint> FindIndex(const Variables& tool_variables) {
  if (HasAny(tool_variables, kNoIndexSettings)) return std::nullopt;
  std::string_view url = kUsualIndex;
  for (const char* name : kIndexSettings) {
    const auto found = tool_variables.find(name);
    if (found == tool_variables.end() || !found->second || found->second->empty()) continue;
    url = *found->second;
    break;
  }
  Result<http::Endpoint> index = http::Endpoint::Parse(OriginOf(url));
  if (!index || index->transport == http::Endpoint::Transport::kUnix) return std::nullopt;
  return *std::move(index);
}

std::string FindWayOutLacking(const Variables& tool_variables, std::chrono::milliseconds wait_max) {
  std::optional<http::Endpoint> index = FindIndex(tool_variables);
  if (!index || HasAny(tool_variables, kProxySettings)) return {};
  index->transport = http::Endpoint::Transport::kTcp;  // whether somebody answers is all that matters
  auto answer = std::make_shared<std::promise<Status>>();
  std::future<Status> answered = answer->get_future();
  std::thread([answer, index = *index, wait_max] {
    const auto connected = http::ClientSocket::Connect(index, wait_max);
    answer->set_value(connected ? Status() : std::unexpected(connected.error()));
  }).detach();
  if (answered.wait_for(wait_max) != std::future_status::ready)
    return index->host + " does not answer within " + std::to_string(wait_max.count()) + " ms";
  const Status status = answered.get();
  return status ? "" : status.error().message;
}

}  // namespace trainyard::agent
