#include "net/http/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace trainyard::http {

namespace {

constexpr int kGzipOnly = 16;  // added to the window's bits: no zlib format, no raw deflate
constexpr int kWindowBits = MAX_WBITS + kGzipOnly;
constexpr int kMemoryLevel = 8;  // zlib's default

uInt Clamp(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* ZlibBytes(const char* bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes)); }

/// A stream with its 256 KiB, reused: creating one takes ten times as long as compressing a small body.
class Compressor {
 public:
  Compressor() {
    TY_CHECK(deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kWindowBits, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK);
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ~Compressor() { deflateEnd(&stream_); }

  std::string Compress(std::string_view text) {
    TY_CHECK(deflateReset(&stream_) == Z_OK);
    std::string compressed(deflateBound(&stream_, text.size()), '\0');
    stream_.next_in = ZlibBytes(text.data());
    stream_.avail_in = Clamp(text.size());
    stream_.next_out = ZlibBytes(compressed.data());
    stream_.avail_out = Clamp(compressed.size());
    TY_CHECK(deflate(&stream_, Z_FINISH) == Z_STREAM_END);
    compressed.resize(compressed.size() - stream_.avail_out);
    return compressed;
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::string GzipCompress(std::string_view text) {
  TY_CHECK(text.size() < std::numeric_limits<uInt>::max() / 2);
  thread_local Compressor compressor;
  return compressor.Compress(text);
}

struct GzipDecoder::State {
  z_stream stream{};
  bool done = false;
};

GzipDecoder::GzipDecoder() : state_(std::make_unique<State>()) {
  TY_CHECK(inflateInit2(&state_->stream, kWindowBits) == Z_OK);
}

GzipDecoder::~GzipDecoder() { inflateEnd(&state_->stream); }

bool GzipDecoder::done() const noexcept { return state_->done; }

Result<GzipDecoder::Step> GzipDecoder::Decode(std::string_view in, std::span<std::byte> out) {
  if (state_->done || out.empty()) return Step{};
  z_stream& stream = state_->stream;
  const uInt in_size = Clamp(in.size());
  const uInt out_size = Clamp(out.size());
  stream.next_in = ZlibBytes(in.data());
  stream.avail_in = in_size;
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = out_size;
  const int status = inflate(&stream, Z_NO_FLUSH);
  TY_CHECK(status != Z_MEM_ERROR && status != Z_STREAM_ERROR);
  state_->done = status == Z_STREAM_END;
  // Z_BUF_ERROR: no progress was possible with this input and output, which is not an error.
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
    return std::unexpected(InvalidArgument("", "the body is not valid gzip"));
  return Step{in_size - stream.avail_in, out_size - stream.avail_out};
}

}  // namespace trainyard::http
