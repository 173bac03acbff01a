#include "stores/backup/restored_from.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/async/file.h"
#include "base/wire/json.h"
#include "base/wire/time.h"

namespace trainyard::backup {

namespace {

constexpr std::size_t kSmallFileBytesMax = 64 * 1024;

std::string PathIn(const std::string& data) { return data + "/restored.json"; }

}  // namespace

std::string MachineId() {
  std::string id = ReadFile("/etc/machine-id", kSmallFileBytesMax).value_or("");
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

Status WriteRestoredFrom(const std::string& data, const control::v1::RestoredFrom& from) {
  return WriteFileAtomically(PathIn(data), wire::PrintJson(from), 0600);
}

std::optional<control::v1::RestoredFrom> ReadRestoredFrom(const std::string& data) {
  const Result<std::string> text = ReadFile(PathIn(data), kSmallFileBytesMax);
  control::v1::RestoredFrom from;
  if (!text || !wire::ParseJson(*text, from, "")) return std::nullopt;
  return from;
}

std::int64_t LineageOf(const std::string& data) {
  const std::optional<control::v1::RestoredFrom> from = ReadRestoredFrom(data);
  if (!from) return 0;
  // An older version's restore did not set it.
  return from->lineage() != 0 ? from->lineage() : wire::FromProto(from->time()).time_since_epoch().count();
}

std::string FormerAttempts(const std::string& data) {
  const std::optional<control::v1::RestoredFrom> from = ReadRestoredFrom(data);
  if (!from || from->machine_id().empty() || from->machine_id() != MachineId()) return {};
  const std::string attempts = from->data_directory() + "/attempts";
  std::error_code error;
  struct stat status{};
  // The path comes from the backup; it is only used if it can be a directory of a server of this account.
  if (::lstat(attempts.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {};
  return std::filesystem::equivalent(attempts, data + "/attempts", error) ? std::string() : attempts;
}

Status ForgetFormer(const std::string& data) {
  std::optional<control::v1::RestoredFrom> from = ReadRestoredFrom(data);
  if (!from) return {};
  from->clear_machine_id();
  return WriteRestoredFrom(data, *from);
}

}  // namespace trainyard::backup
