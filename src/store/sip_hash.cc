#include "store/sip_hash.h"

#include <bit>
#include <string>

namespace trainyard::store {

namespace {

constexpr std::size_t kWordBytes = 8;

class State {
 public:
  State(std::uint64_t k0, std::uint64_t k1)
      : v0_(k0 ^ 0x736f6d6570736575),
        v1_(k1 ^ 0x646f72616e646f6d),
        v2_(k0 ^ 0x6c7967656e657261),
        v3_(k1 ^ 0x7465646279746573) {}

  void Absorb(std::uint64_t word) {
    v3_ ^= word;
    Round();
    Round();
    v0_ ^= word;
  }

  std::uint64_t Finish() {
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) Round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void Round() {
    v0_ += v1_, v1_ = std::rotl(v1_, 13), v1_ ^= v0_, v0_ = std::rotl(v0_, 32);
    v2_ += v3_, v3_ = std::rotl(v3_, 16), v3_ ^= v2_;
    v0_ += v3_, v3_ = std::rotl(v3_, 21), v3_ ^= v0_;
    v2_ += v1_, v1_ = std::rotl(v1_, 17), v1_ ^= v2_, v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_;
  std::uint64_t v1_;
  std::uint64_t v2_;
  std::uint64_t v3_;
};

}  // namespace

std::uint64_t LittleEndianWord(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kWordBytes; ++i) {
    word |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[i])) << (8 * i);
  }
  return word;
}

std::uint64_t SipHash(const SipHashKey& key, std::string_view bytes) {
  const std::string_view key_bytes(reinterpret_cast<const char*>(key.data()), key.size());
  State state(LittleEndianWord(key_bytes), LittleEndianWord(key_bytes.substr(kWordBytes)));
  const std::size_t whole = bytes.size() / kWordBytes * kWordBytes;
  for (std::size_t i = 0; i < whole; i += kWordBytes) state.Absorb(LittleEndianWord(bytes.substr(i)));
  std::string last(bytes.substr(whole));
  last.resize(kWordBytes, '\0');
  last.back() = static_cast<char>(bytes.size());
  state.Absorb(LittleEndianWord(last));
  return state.Finish();
}

}  // namespace trainyard::store
