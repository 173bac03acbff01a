#include "http/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace trainyard::http {

namespace {

constexpr int kGzipOnly = 16;  // added to the window's bits: no zlib format, no raw deflate
constexpr int kWindowBits = MAX_WBITS + kGzipOnly;
constexpr int kMemoryLevel = 9;  // 384 KiB while it works; the default is half of it and slower

uInt Clamp(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* ZlibBytes(const char* bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes)); }

}  // namespace

std::string GzipCompress(std::string_view text) {
  TY_CHECK(text.size() < std::numeric_limits<uInt>::max() / 2);
  z_stream stream{};
  TY_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) ==
           Z_OK);
  std::string compressed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = ZlibBytes(text.data());
  stream.avail_in = Clamp(text.size());
  stream.next_out = ZlibBytes(compressed.data());
  stream.avail_out = Clamp(compressed.size());
  TY_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  compressed.resize(compressed.size() - stream.avail_out);
  deflateEnd(&stream);
  return compressed;
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
  // Z_BUF_ERROR: nothing could be done with what there is, which is no error.
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
    return std::unexpected(InvalidArgument("", "the body is not valid gzip"));
  return Step{in_size - stream.avail_in, out_size - stream.avail_out};
}

}  // namespace trainyard::http
