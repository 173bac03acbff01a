#include "cli/storage/upload.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "base/async/unique_fd.h"
#include "base/text/hex.h"
#include "base/text/percent.h"
#include "base/wire/utf8.h"
#include "cli/command_session.h"

namespace trainyard::cli {
namespace {

constexpr std::uint64_t kShownBytesMin = std::uint64_t{1} << 20;
constexpr std::size_t kBarMin = 10;
constexpr std::size_t kBarMax = 40;
constexpr std::size_t kDecoration = 8;  // " [", "] ", "100%"

constexpr int kResumesMax = 5;

Error Unreadable(const std::string& path, int error_number) {
  return InvalidArgument("", "Unable to read file [" + path + "]: [Errno " + std::to_string(error_number) +
                                 "] " + std::strerror(error_number) + ": '" + path + "'");
}

struct SourceFile {
  UniqueFd descriptor;
  std::uint64_t size = 0;
};

Result<SourceFile> Open(const std::string& path) {
  SourceFile file{UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  if (file.descriptor.get() < 0) return std::unexpected(Unreadable(path, errno));
  struct stat status{};
  if (fstat(file.descriptor.get(), &status) != 0) return std::unexpected(Unreadable(path, errno));
  if (S_ISDIR(status.st_mode)) return std::unexpected(Unreadable(path, EISDIR));
  file.size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

/// Calls `take` with each block of the file in order.
template <class F>
Status ReadBlocks(const std::string& path, const SourceFile& file, F take) {
  std::array<char, 1 << 16> block;
  for (std::uint64_t offset = 0;;) {
    ssize_t count = pread(file.descriptor.get(), block.data(), block.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(Unreadable(path, errno));
    if (count == 0) return {};
    take(std::string_view(block.data(), static_cast<std::size_t>(count)));
    offset += static_cast<std::uint64_t>(count);
  }
}

Result<std::string> Checksum(const std::vector<std::string>& paths) {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr);
  for (const std::string& path : paths) {
    TY_TRY(SourceFile file, Open(path));
    auto add = [&digest](std::string_view block) {
      EVP_DigestUpdate(digest.get(), block.data(), block.size());
    };
    TY_RETURN_IF_ERROR(ReadBlocks(path, file, add));
  }
  std::array<unsigned char, 32> bytes{};
  EVP_DigestFinal_ex(digest.get(), bytes.data(), nullptr);
  return text::Hex(bytes.data(), bytes.size());
}

std::string Metadata(std::uint64_t size) { return "{\"size\": \"" + std::to_string(size) + "\"}"; }

Result<ApiResponse> SendMultipart(ApiClient& client, const std::string& path, const SourceFile& file,
                                  const std::string& bucket, const std::string& object) {
  std::string content;
  TY_RETURN_IF_ERROR(ReadBlocks(path, file, [&content](std::string_view block) { content += block; }));
  std::string boundary = "trainyard-part";
  for (int number = 0; content.find(boundary) != std::string::npos; ++number)
    boundary = "trainyard-part-" + std::to_string(number);
  ApiRequest request{.method = ApiRequest::Method::kPost,
                     .path = "/upload/storage/v1/b/" + text::PercentEncode(bucket) + "/o",
                     .query = {{"alt", "json"}, {"name", object}, {"uploadType", "multipart"}},
                     .headers = {{"Content-Type", "multipart/related; boundary=\"" + boundary + "\""}}};
  request.body = "--" + boundary + "\r\nContent-Type: application/json\r\n\r\n" + Metadata(content.size()) +
                 "\r\n--" + boundary + "\r\nContent-Type: " + std::string(MediaType(path)) + "\r\n\r\n" +
                 content + "\r\n--" + boundary + "--\r\n";
  return client.Send(request);
}

/// The path and query of an absolute or relative URL.
std::string TargetOf(const std::string& location) {
  std::size_t scheme = location.find("://");
  if (scheme == std::string::npos) return location;
  std::size_t slash = location.find('/', scheme + 3);
  return slash == std::string::npos ? "/" : location.substr(slash);
}

/// How many bytes the server has, by "bytes=0-N".
std::uint64_t HeldBytes(const std::string& range) {
  std::uint64_t last = 0;
  std::size_t dash = range.rfind('-');
  if (dash == std::string::npos) return 0;
  auto [end, error] = std::from_chars(range.data() + dash + 1, range.data() + range.size(), last);
  return error == std::errc() ? last + 1 : 0;
}

Result<ApiResponse> SendResumable(ApiClient& client, const std::string& path, const SourceFile& file,
                                  const std::string& bucket, const std::string& object, ProgressBar& bar) {
  ApiRequest start{.method = ApiRequest::Method::kPost,
                   .path = "/resumable/upload/storage/v1/b/" + text::PercentEncode(bucket) + "/o",
                   .query = {{"alt", "json"}, {"name", object}, {"uploadType", "resumable"}},
                   .headers = {{"Content-Type", "application/json"},
                               {"X-Upload-Content-Type", std::string(MediaType(path))},
                               {"X-Upload-Content-Length", std::to_string(file.size)}},
                   .body = Metadata(file.size)};
  TY_TRY(ApiResponse started, client.Send(start));
  if (started.status >= 400) return started;
  if (started.location.empty())
    return std::unexpected(Internal("the server began an upload without saying where it goes"));
  std::string total = std::to_string(file.size);
  std::uint64_t held = 0;
  for (int resume = 0;; ++resume) {
    ApiRequest put{.method = ApiRequest::Method::kPut, .path = TargetOf(started.location)};
    put.headers = {{"Content-Range",
                    "bytes " + std::to_string(held) + "-" + std::to_string(file.size - 1) + "/" + total}};
    put.file = ApiRequest::File{file.descriptor.get(), held, file.size - held};
    put.progress = [&bar, held](std::uint64_t sent) { bar.Show(held + sent); };
    Result<ApiResponse> sent = client.Send(put);
    if (sent && sent->status != 308) return sent;
    if (resume == kResumesMax) return sent;
    ApiRequest ask{.method = ApiRequest::Method::kPut, .path = TargetOf(started.location), .patient = true};
    ask.headers = {{"Content-Range", "bytes */" + total}};
    TY_TRY(ApiResponse status, client.Send(ask));
    if (status.status != 308) return status;
    held = HeldBytes(status.range);
  }
}

}  // namespace

std::string PrintProgress(const std::string& title, std::uint64_t done, std::uint64_t total,
                          std::size_t columns) {
  double part = total == 0 ? 1.0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  std::string percent = std::to_string(static_cast<int>(part * 100)) + "%";
  if (columns < kDecoration + kBarMin) return percent;
  std::size_t bar = std::clamp(columns - std::min(columns, title.size() + kDecoration), kBarMin, kBarMax);
  std::string shown_title = title.substr(0, columns - kDecoration - bar);
  auto filled = static_cast<std::size_t>(part * static_cast<double>(bar));
  return shown_title + " [" + std::string(filled, '=') + std::string(bar - filled, ' ') + "] " + percent;
}

ProgressBar::ProgressBar(const Console& console, std::string title, std::uint64_t total)
    : console_(console), title_(wire::VisibleText(title)), total_(total) {}

ProgressBar::~ProgressBar() {
  if (!shown_.empty()) console_.Transient("\r\x1b[K");
}

void ProgressBar::Show(std::uint64_t done) {
  if (total_ < kShownBytesMin || !Console::ErrIsTerminal()) return;
  std::string text = PrintProgress(title_, done, total_, Console::ErrColumns() - 1);
  if (text == shown_) return;
  console_.Transient("\r" + text + "\x1b[K");
  shown_ = std::move(text);
}

Result<std::string> UploadFile(ApiClient& client, const Console& console, const std::string& path,
                               const std::string& bucket, const std::string& object) {
  TY_TRY(SourceFile file, Open(path));
  ProgressBar bar(console, "Uploading " + BaseName(path), file.size);
  Result<ApiResponse> response = file.size < kResumableBytesMin
                                     ? SendMultipart(client, path, file, bucket, object)
                                     : SendResumable(client, path, file, bucket, object, bar);
  if (!response) return std::unexpected(std::move(response).error());
  if (response->status == 404)
    return std::unexpected(NotFound("Could not upload file: [" + bucket + "] bucket does not exist."));
  Result<Json> answer = wire::ParseJsonTree(response->body);
  if (response->status >= 400) {
    std::string reason = answer ? TextAt(*answer, "error.message") : std::string();
    return std::unexpected(Error{.code = Code::kUnknown,
                                 .message = std::to_string(response->status) + " Could not upload file [" +
                                            path + "] to [" + bucket + "/" + object +
                                            "]: " + (reason.empty() ? response->body : reason)});
  }
  if (!answer || TextAt(*answer, "size") != std::to_string(file.size))
    return std::unexpected(
        Error{.code = Code::kDataLoss,
              .message = "Cloud storage upload failure. Uploaded file does not match local file: " + path +
                         ". Please retry."});
  return "gs://" + TextAt(*answer, "bucket") + "/" + TextAt(*answer, "name");
}

Result<std::vector<std::string>> UploadPackages(ApiClient& client, const Console& console,
                                                const std::vector<std::string>& paths,
                                                const StagingLocation& staging) {
  TY_RETURN_IF_ERROR(CheckFileNames(paths));
  TY_TRY(std::string checksum, Checksum(paths));
  std::vector<std::string> uris;
  for (const std::string& path : paths) {
    TY_TRY(std::string uri,
           UploadFile(client, console, path, staging.bucket, StagedName(staging, checksum, path)));
    uris.push_back(std::move(uri));
  }
  return uris;
}

}  // namespace trainyard::cli
