#include "api/storage/storage_handlers_gunzip.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/on_pool.h"
#include "net/http/gzip.h"

namespace trainyard::api::storage_api {
namespace {

constexpr std::size_t kInBytes = std::size_t{64} << 10;
constexpr std::size_t kOutBytes = std::size_t{256} << 10;

/// One file while it is sent. Blocking; one thread at a time.
class Gunzip {
 public:
  explicit Gunzip(UniqueFd file) : file_(std::move(file)), in_(kInBytes, '\0') {}

  /// The next bytes; none at the end.
  Result<std::string> Next() {
    std::string out(kOutBytes, '\0');
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (pending_.empty() && (decoder_ == nullptr || decoder_->done())) {
        TY_TRY(const bool more, Read());
        if (!more) break;
        decoder_ = std::make_unique<http::GzipDecoder>();
      }
      if (decoder_->done()) decoder_ = std::make_unique<http::GzipDecoder>();
      const std::span<std::byte> space(reinterpret_cast<std::byte*>(out.data()) + filled,
                                       out.size() - filled);
      // Also without input: the decoder may hold output that did not fit before.
      TY_TRY(const http::GzipDecoder::Step step, decoder_->Decode(pending_, space));
      pending_.remove_prefix(step.consumed);
      filled += step.produced;
      if (step.produced > 0 || step.consumed > 0 || decoder_->done()) continue;
      TY_TRY(const bool more, Read());
      if (!more) break;
    }
    if (filled == 0 && decoder_ != nullptr && !decoder_->done()) {
      return std::unexpected(Error{Code::kDataLoss, "the gzip object is cut", {}});
    }
    out.resize(filled);
    return out;
  }

 private:
  Result<bool> Read() {
    const ssize_t got = ::pread(file_.get(), in_.data(), in_.size(), offset_);
    if (got < 0) return std::unexpected(ErrnoError(errno, "read the object"));
    offset_ += got;
    pending_ = std::string_view(in_).substr(0, static_cast<std::size_t>(got));
    return got > 0;
  }

  UniqueFd file_;
  std::string in_;
  std::string_view pending_;
  off_t offset_ = 0;
  std::unique_ptr<http::GzipDecoder> decoder_;
};

boost::asio::awaitable<Result<http::StreamPart>> NextPiece(std::shared_ptr<Gunzip> gunzip,
                                                           boost::asio::thread_pool& files) {
  auto next = [gunzip] { return gunzip->Next(); };
  TY_CO_TRY(std::string piece, co_await OnPool(files, std::move(next)));
  co_return http::StreamPart(std::move(piece));
}

}  // namespace

bool BeginsAsGzip(int file) {
  std::array<unsigned char, 2> magic{};
  return ::pread(file, magic.data(), magic.size(), 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

http::StreamBody GunzippedBody(UniqueFd file, boost::asio::thread_pool& files) {
  auto gunzip = std::make_shared<Gunzip>(std::move(file));  // shared with the task that reads
  return {.next = [gunzip = std::move(gunzip), &files] { return NextPiece(gunzip, files); }};
}

}  // namespace trainyard::api::storage_api
