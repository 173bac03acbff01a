#include <array>

#include "net/http/gzip.h"
#include "net/http/request_body.h"

namespace trainyard::http {

namespace {

class InflatingBody final : public BodyReader {
 public:
  explicit InflatingBody(BodyReader& compressed) : compressed_(compressed) {}

  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    while (!ended_ && !buffer.empty()) {
      TY_CO_TRY(const GzipDecoder::Step step, decoder_.Decode(pending_, buffer));
      pending_.remove_prefix(step.consumed);
      produced_ += step.produced;
      if (produced_ > kInflateFreeBytes && produced_ / kInflateRatioMax > taken_) {
        co_return std::unexpected(
            Error{Code::kOutOfRange, "the body grows too much when it is decompressed", ""});
      }
      if (step.produced > 0) co_return step.produced;
      TY_CO_RETURN_IF_ERROR(co_await TakeMore());
    }
    co_return 0U;
  }

 private:
  asio::awaitable<Status> TakeMore() {
    if (!pending_.empty())
      co_return std::unexpected(InvalidArgument("", "bytes after the end of the gzip body"));
    TY_CO_TRY(const std::size_t got,
              co_await compressed_.ReadSome(std::as_writable_bytes(std::span(buffer_))));
    taken_ += got;
    pending_ = {buffer_.data(), got};
    if (got > 0) co_return Status();
    ended_ = true;
    if (taken_ > 0 && !decoder_.done())
      co_return std::unexpected(InvalidArgument("", "the gzip body is cut"));
    co_return Status();
  }

  BodyReader& compressed_;
  GzipDecoder decoder_;
  std::array<char, 16384> buffer_{};
  std::string_view pending_;
  std::uint64_t taken_ = 0;
  std::uint64_t produced_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<BodyReader> InflateBody(BodyReader& compressed) {
  return std::make_unique<InflatingBody>(compressed);
}

}  // namespace trainyard::http
