#include "store/secret_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "async/file.h"
#include "async/on_pool.h"

namespace trainyard::store {

namespace {

namespace asio = boost::asio;

constexpr std::string_view kStagedPrefix = "new-";

/// "NAME=value", each with a NUL behind it.
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

/// A job's uid; nothing: the file is none of ours.
std::optional<std::int64_t> UidOf(const std::string& name) {
  std::int64_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return uid;
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

}  // namespace

Result<std::unique_ptr<SecretStore>> SecretStore::Open(std::string folder) {
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder));
  TY_TRY(const std::vector<std::string> names, NamesIn(folder));
  for (const std::string& name : names) {
    if (name.starts_with(kStagedPrefix)) TY_RETURN_IF_ERROR(RemoveFile(folder + "/" + name));
  }
  return std::unique_ptr<SecretStore>(new SecretStore(std::move(folder)));
}

asio::awaitable<Result<std::string>> SecretStore::Stage(Values values) {
  std::string name = std::string(kStagedPrefix) + std::to_string(++staged_);
  auto write = [path = PathOf(name), text = Print(values)] { return WriteFileAtomically(path, text, 0600); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(files_, std::move(write)));
  co_return name;
}

asio::awaitable<Status> SecretStore::Keep(std::string staged, std::int64_t job_uid) {
  auto keep = [from = PathOf(staged), to = PathOf(std::to_string(job_uid)), folder = folder_]() -> Status {
    if (std::rename(from.c_str(), to.c_str()) != 0)
      return std::unexpected(ErrnoError(errno, "rename " + from));
    return SyncDirectory(folder);
  };
  co_return co_await OnPool(files_, std::move(keep));
}

asio::awaitable<void> SecretStore::Drop(std::string staged) {
  auto drop = [path = PathOf(staged)] { static_cast<void>(RemoveFile(path)); };  // else Open removes it
  co_await OnPool(files_, std::move(drop));
}

asio::awaitable<Result<SecretStore::Values>> SecretStore::Read(std::int64_t job_uid) {
  auto read = [path = PathOf(std::to_string(job_uid))] { return ReadFile(path); };
  TY_CO_TRY(const std::string text, co_await OnPool(files_, std::move(read)));
  co_return Parse(text);
}

asio::awaitable<Status> SecretStore::Remove(std::int64_t job_uid) {
  auto remove = [path = PathOf(std::to_string(job_uid))] { return RemoveFile(path); };
  co_return co_await OnPool(files_, std::move(remove));
}

asio::awaitable<Status> SecretStore::RemoveAllBut(std::set<std::int64_t> job_uids) {
  auto remove = [folder = folder_, keep = std::move(job_uids)]() -> Status {
    TY_TRY(const std::vector<std::string> names, NamesIn(folder));
    for (const std::string& name : names) {
      const std::optional<std::int64_t> uid = UidOf(name);
      if (uid && !keep.contains(*uid)) TY_RETURN_IF_ERROR(RemoveFile(folder + "/" + name));
    }
    return {};
  };
  co_return co_await OnPool(files_, std::move(remove));
}

}  // namespace trainyard::store
