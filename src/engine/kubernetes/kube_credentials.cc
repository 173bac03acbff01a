#include "engine/kubernetes/kube_credentials.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/async/file.h"
#include "base/wire/time.h"

namespace trainyard::engine {

namespace {

namespace fs = std::filesystem;
using kubernetes::Access;

std::string VariableOf(const KubePlaces& places, const std::string& name) {
  const auto found = places.variables.find(name);
  return found == places.variables.end() ? "" : found->second;
}

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<Access> ReadKubeconfig(const std::string& path, const std::string& context) {
  const Result<std::string> text = ReadFile(path);
  if (!text) {
    Error error = text.error();
    error.message = "cannot read the kubeconfig: " + error.message;
    return std::unexpected(std::move(error));
  }
  std::error_code ignored;
  Result<Access> access =
      kubernetes::ParseKubeconfig(*text, fs::absolute(path, ignored).parent_path().string(), context);
  if (!access) {
    Error error = access.error();
    error.message = path + ": " + error.message;
    return std::unexpected(std::move(error));
  }
  return access;
}

/// The first file of $KUBECONFIG that exists.
Result<std::string> FirstOf(std::string_view paths) {
  for (std::string_view rest = paths; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string path(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!path.empty() && IsThere(path)) return path;
  }
  return std::unexpected(
      NotFound("the kubeconfig that KUBECONFIG names does not exist: " + std::string(paths)));
}

/// The account of the pod in which this program runs.
Result<Access> AccountOfPod(const KubePlaces& places) {
  const std::string host = VariableOf(places, "KUBERNETES_SERVICE_HOST");
  const std::string port = VariableOf(places, "KUBERNETES_SERVICE_PORT");
  Access access{.server = "https://" + (host.contains(':') ? "[" + host + "]" : host) +
                          (port.empty() ? "" : ":" + port),
                .authority = {.file = places.account_folder + "/ca.crt"},
                .token_file = places.account_folder + "/token"};
  const Result<std::string> name_space = ReadFile(places.account_folder + "/namespace");
  if (name_space) access.name_space = TrimSpace(*name_space);
  return access;
}

}  // namespace

Result<Access> FindAccess(const KubePlaces& places) {
  if (!places.kubeconfig.empty()) return ReadKubeconfig(places.kubeconfig, places.context);
  const std::string named = VariableOf(places, "KUBECONFIG");
  if (!named.empty()) {
    TY_TRY(const std::string path, FirstOf(named));
    return ReadKubeconfig(path, places.context);
  }
  const std::string home = VariableOf(places, "HOME");
  const std::string usual = home + "/.kube/config";
  if (!home.empty() && IsThere(usual)) return ReadKubeconfig(usual, places.context);
  const bool is_in_pod =
      !VariableOf(places, "KUBERNETES_SERVICE_HOST").empty() && IsThere(places.account_folder + "/token");
  if (is_in_pod) return AccountOfPod(places);
  return std::unexpected(
      NotFound("no kubeconfig was found: name one with --kubeconfig or KUBECONFIG, write " +
               (home.empty() ? "~/.kube/config" : usual) + ", or run the server in a pod of the cluster"));
}

Result<std::string> ReadPem(const kubernetes::Pem& pem) {
  if (!pem.text.empty() || pem.file.empty()) return pem.text;
  return ReadFile(pem.file);
}

Result<KubeCredentials::Kept> KubeCredentials::Fetch(const Access& access, SysTime now) const {
  Kept kept{.login = {.token = access.token}, .until = SysTime::max()};
  TY_TRY(kept.login.certificate, ReadPem(access.certificate));
  TY_TRY(kept.login.key, ReadPem(access.key));
  if (!access.certificate.file.empty() || !access.key.file.empty()) kept.until = now + kFileKept;
  if (!kept.login.token.empty()) return kept;
  if (!access.token_file.empty()) {
    TY_TRY(const std::string text, ReadFile(access.token_file));
    kept.login.token = TrimSpace(text);
    kept.until = now + kFileKept;
    return kept;
  }
  if (!access.plugin) return kept;
  TY_TRY(const std::string authority, ReadPem(access.authority));
  TY_TRY(kubernetes::ExecCredential printed, RunExecPlugin(access, authority, surroundings_));
  kept.login.token = std::move(printed.token);
  if (!printed.certificate.empty()) {
    kept.login.certificate = std::move(printed.certificate);
    kept.login.key = std::move(printed.key);
  }
  if (const Result<SysTime> end = wire::ParseTime(printed.expiration); end)
    kept.until = std::min(kept.until, *end - kEarly);
  return kept;
}

Result<KubeLogin> KubeCredentials::Get() {
  const SysTime now = clock_.Now();
  std::promise<Result<KubeLogin>> promise;
  std::optional<KubeLogin> known;
  std::shared_future<Result<KubeLogin>> other;
  Access access;
  bool is_refused = false;
  state_.With([&](State& state) {
    if (state.kept && now < state.kept->until) {
      known = state.kept->login;
    } else if (state.asked.valid()) {
      other = state.asked;
    } else {
      state.asked = promise.get_future().share();
      access = state.access;
      is_refused = std::exchange(state.is_refused, false);
    }
  });
  if (known) return *std::move(known);
  if (other.valid()) return other.get();
  if (is_refused && look_again_) access = look_again_().value_or(access);
  const Result<Kept> fetched = Fetch(access, now);
  const Result<KubeLogin> login =
      fetched ? Result<KubeLogin>(fetched->login) : Result<KubeLogin>(std::unexpected(fetched.error()));
  state_.With([&](State& state) {
    state.access = std::move(access);
    if (fetched) state.kept = *fetched;
    state.asked = {};
  });
  promise.set_value(login);
  return login;
}

void KubeCredentials::Refuse(const KubeLogin& refused) {
  state_.With([&](State& state) {
    if (!state.kept || state.kept->login != refused) return;
    state.kept.reset();
    state.is_refused = true;
  });
}

}  // namespace trainyard::engine
