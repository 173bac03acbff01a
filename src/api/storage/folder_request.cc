#include "api/storage/folder_request.h"

#include <cstddef>
#include <string_view>

#include "api/ml/attachment.h"
#include "base/wire/utf8.h"

namespace trainyard::api {

namespace {

constexpr std::size_t kPrefixBytesMax = 1024;  // as long as an object's name

}  // namespace

Result<std::string> ReadFolder(const http::Request& request) {
  std::string prefix(request.Query("prefix"));
  const auto wrong = [](const char* why) { return std::unexpected(InvalidArgument("prefix", why)); };
  if (!request.HasQuery("prefix"))
    return wrong("Must be given: a folder, such as \"run_1/\", or \"\" for the bucket");
  if (!prefix.empty() && !prefix.ends_with('/'))
    return wrong("Must end in \"/\", or be empty for the bucket");
  if (prefix.size() > kPrefixBytesMax) return wrong("Must not be longer than 1024 bytes");
  if (!wire::IsUtf8(prefix)) return wrong("Must be UTF-8");
  return prefix;
}

Result<FolderFormat> ReadFolderFormat(const http::Request& request) {
  const std::string_view format = request.Query("format");
  if (format.empty() || format == "zip") return FolderFormat::kZip;
  if (format == "tar") return FolderFormat::kTar;
  return std::unexpected(InvalidArgument("format", "Must be zip or tar"));
}

std::string NameOfFolder(const std::string& bucket, const std::string& prefix) {
  if (prefix.empty()) return SafeFileName(bucket);
  const std::string_view path = std::string_view(prefix).substr(0, prefix.size() - 1);
  return SafeFileName(path.substr(path.rfind('/') + 1));
}

}  // namespace trainyard::api
