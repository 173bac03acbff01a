#include "stores/audit/audit_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace trainyard::audit {

namespace {

constexpr std::string_view kPrefix = "audit-";
constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kDayDigits = 8;

std::string Digits(unsigned number, std::size_t count) {
  const std::string digits = std::to_string(number);
  return std::string(count - std::min(count, digits.size()), '0') + digits;
}

template <class Number>
bool ReadNumber(std::string_view digits, Number& number) {
  const char* const end = digits.data() + digits.size();
  const auto [stopped, failed] = std::from_chars(digits.data(), end, number);
  return failed == std::errc() && stopped == end && !digits.starts_with('-');
}

}  // namespace

std::string AuditFile::Name() const {
  const std::chrono::year_month_day date(day);
  return std::string(kPrefix) + Digits(static_cast<unsigned>(static_cast<int>(date.year())), 4) +
         Digits(static_cast<unsigned>(date.month()), 2) + Digits(static_cast<unsigned>(date.day()), 2) + "-" +
         std::to_string(number) + std::string(kSuffix);
}

std::optional<AuditFile> AuditFile::Parse(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string original(name);
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(std::min(name.size(), kSuffix.size()));
  if (name.size() < kDayDigits + 2 || name[kDayDigits] != '-') return std::nullopt;
  int year = 0;
  unsigned month = 0;
  unsigned day_of_month = 0;
  AuditFile file;
  if (!ReadNumber(name.substr(0, 4), year) || !ReadNumber(name.substr(4, 2), month) ||
      !ReadNumber(name.substr(6, 2), day_of_month) || !ReadNumber(name.substr(kDayDigits + 1), file.number))
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day_of_month)};
  if (!date.ok()) return std::nullopt;
  file.day = date;
  if (file.Name() != original) return std::nullopt;  // each file has only one name
  return file;
}

Result<std::vector<AuditFile>> ListAuditFiles(const std::string& folder) {
  std::vector<AuditFile> files;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return files;
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    std::optional<AuditFile> file = AuditFile::Parse(entries->path().filename().string());
    if (!file) continue;
    std::error_code gone;
    const std::uintmax_t size = entries->file_size(gone);
    if (gone) continue;
    file->bytes = static_cast<std::int64_t>(size);
    files.push_back(*file);
  }
  if (error) return std::unexpected(ErrnoError(error.value(), "read " + folder));
  std::ranges::sort(files);
  return files;
}

std::vector<Removal> FilesToRemove(std::span<const AuditFile> files, const AuditFile& current,
                                   std::chrono::sys_days today, const Retention& retention) {
  std::vector<Removal> removals;
  std::int64_t bytes = 0;
  for (const AuditFile& file : files) bytes += file.bytes;
  for (const AuditFile& file : files) {
    if (file == current) continue;
    const bool is_old = today - file.day > retention.days_max;
    if (!is_old && bytes <= retention.bytes_max) break;
    bytes -= file.bytes;
    std::string reason =
        is_old
            ? "older than " + std::to_string(retention.days_max.count()) + " days (--audit-days)"
            : "the audit log has more than " + std::to_string(retention.bytes_max) + " bytes (--audit-bytes)";
    removals.push_back({file, std::move(reason)});
  }
  return removals;
}

}  // namespace trainyard::audit
