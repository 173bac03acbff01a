#include "stores/store/secret_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/on_pool.h"
#include "base/number.h"

namespace trainyard::store {

namespace {

namespace asio = boost::asio;

constexpr std::string_view kStagedPrefix = "new-";

/// "NAME=value", each followed by a NUL.
std::string Print(const SecretStore::Values& values) {
  std::string text;
  for (const auto& [name, value] : values) text.append(name).append("=").append(value).push_back('\0');
  return text;
}

SecretStore::Values Parse(std::string_view text) {
  SecretStore::Values values;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos) values[std::string(one.substr(0, equals))] = one.substr(equals + 1);
  }
  return values;
}

Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return std::unexpected(ErrnoError(errno, "rename " + from));
  return {};
}

Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    return std::unexpected(ErrnoError(errno, "remove " + path));
  return {};
}

Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename());
  if (error) return std::unexpected(ErrnoError(error.value(), "read " + folder));
  return names;
}

/// The error goes to the client that creates a job, which must not learn where the server stores its files:
/// only the log says that.
Status ForClients(Status stored) {
  if (stored) return stored;
  Diagnose(DiagnosticLevel::kWarning, "a job's secrets cannot be stored: " + stored.error().message);
  const bool is_full = stored.error().code == Code::kResourceExhausted;
  return std::unexpected(Error{is_full ? Code::kResourceExhausted : Code::kUnavailable,
                               is_full ? "the job's secrets cannot be stored: No space left on device"
                                       : "the job's secrets cannot be stored; the server's log says why",
                               {}});
}

}  // namespace

Result<std::unique_ptr<SecretStore>> SecretStore::Open(std::string folder) {
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder));
  return std::unique_ptr<SecretStore>(new SecretStore(std::move(folder)));
}

asio::awaitable<Status> SecretStore::Stage(std::string name, Values values) {
  const auto [staged, is_new] = staged_.insert(name);
  if (!is_new) co_return std::unexpected(Aborted("others stage secrets as " + name));
  auto write = [path = StagedPath(name), text = Print(values)] {
    return ForClients(WriteFileAtomically(path, text, 0600));
  };
  const Status written = co_await OnPool(files_, std::move(write));
  if (!written) staged_.erase(name);
  co_return written;
}

asio::awaitable<Status> SecretStore::Keep(std::string name, std::int64_t job_uid) {
  auto keep = [from = StagedPath(name), to = PathOf(job_uid), folder = folder_]() -> Status {
    TY_RETURN_IF_ERROR(ForClients(Rename(from, to)));
    return ForClients(SyncDirectory(folder));
  };
  const Status kept = co_await OnPool(files_, std::move(keep));
  staged_.erase(name);
  co_return kept;
}

asio::awaitable<void> SecretStore::Drop(std::string name) {
  // If it cannot be removed now, TakeOver does it at the next start.
  auto drop = [path = StagedPath(name)] { [[maybe_unused]] const Status removed = RemoveFile(path); };
  co_await OnPool(files_, std::move(drop));
  staged_.erase(name);
}

asio::awaitable<Result<SecretStore::Values>> SecretStore::Read(std::int64_t job_uid) {
  auto read = [path = PathOf(job_uid)] { return ReadFile(path); };
  TY_CO_TRY(const std::string text, co_await OnPool(files_, std::move(read)));
  co_return Parse(text);
}

asio::awaitable<Status> SecretStore::Remove(std::int64_t job_uid) {
  return OnPool(files_, [path = PathOf(job_uid)] { return RemoveFile(path); });
}

asio::awaitable<Status> SecretStore::TakeOver(std::map<std::int64_t, std::string> jobs) {
  std::map<std::string, std::string> kept_as;  // by the name that they are staged under
  for (const auto& [uid, name] : jobs) kept_as[StagedPath(name)] = PathOf(uid);
  auto settle = [folder = folder_, jobs = std::move(jobs), kept_as = std::move(kept_as)]() -> Status {
    TY_TRY(const std::vector<std::string> names, NamesIn(folder));
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      const std::optional<std::int64_t> uid = WholeNumber<std::int64_t>(name);
      if (const auto kept = kept_as.find(path); kept != kept_as.end()) {
        TY_RETURN_IF_ERROR(Rename(path, kept->second));
      } else if (name.starts_with(kStagedPrefix) || name.starts_with('.') || (uid && !jobs.contains(*uid))) {
        // A name with a dot: WriteFileAtomically was writing it when the server was killed.
        TY_RETURN_IF_ERROR(RemoveFile(path));
      }
    }
    return SyncDirectory(folder);
  };
  co_return co_await OnPool(files_, std::move(settle));
}

std::string SecretStore::PathOf(std::int64_t job_uid) const {
  return folder_ + "/" + std::to_string(job_uid);
}

std::string SecretStore::StagedPath(const std::string& name) const {
  return folder_ + "/" + std::string(kStagedPrefix) + name;
}

}  // namespace trainyard::store
