#include "http/gzip.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"
#include "http/gzip_header.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kGzipOverhead =
    1024;  // header, trailer and the overhead of an incompressible block, rounded up

std::uint32_t Clamp(std::size_t size) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(size, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::string GzipCompress(std::string_view text) {
  TY_CHECK(text.size() < std::numeric_limits<std::uint32_t>::max() / 2);
  std::vector<std::uint8_t> level_buffer(ISAL_DEF_LVL1_DEFAULT);
  std::string compressed(text.size() + text.size() / 64 + kGzipOverhead, '\0');
  auto stream = std::make_unique<isal_zstream>();
  isal_deflate_init(stream.get());
  stream->gzip_flag = IGZIP_GZIP;
  stream->level = 1;
  stream->level_buf = level_buffer.data();
  stream->level_buf_size = Clamp(level_buffer.size());
  stream->end_of_stream = 1;
  stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream->avail_in = Clamp(text.size());
  stream->next_out = reinterpret_cast<std::uint8_t*>(compressed.data());
  stream->avail_out = Clamp(compressed.size());
  TY_CHECK(isal_deflate(stream.get()) == COMP_OK && stream->internal_state.state == ZSTATE_END);
  compressed.resize(compressed.size() - stream->avail_out);
  return compressed;
}

struct GzipDecoder::State {
  GzipHeader header;
  inflate_state inflate;
};

GzipDecoder::GzipDecoder() : state_(std::make_unique<State>()) {
  isal_inflate_init(&state_->inflate);
  state_->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER;
}

GzipDecoder::~GzipDecoder() = default;

bool GzipDecoder::done() const noexcept { return state_->inflate.block_state == ISAL_BLOCK_FINISH; }

Result<GzipDecoder::Step> GzipDecoder::Decode(std::string_view in, std::span<std::byte> out) {
  if (done()) return Step{};
  inflate_state& inflate = state_->inflate;
  std::size_t of_header = 0;
  if (!state_->header.done()) {
    TY_TRY(of_header, state_->header.Take(in));
    in.remove_prefix(of_header);
    if (in.empty()) return Step{of_header, 0};
  }
  const std::uint32_t in_size = Clamp(in.size());
  const std::uint32_t out_size = Clamp(out.size());
  inflate.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
  inflate.avail_in = in_size;
  inflate.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  inflate.avail_out = out_size;
  if (isal_inflate(&inflate) < 0) return std::unexpected(InvalidArgument("", "the body is not valid gzip"));
  return Step{of_header + in_size - inflate.avail_in, out_size - inflate.avail_out};
}

}  // namespace trainyard::http
