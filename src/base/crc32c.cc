#include "base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#elif defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace trainyard {

namespace {

using Table = std::array<std::uint32_t, 256>;

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits reversed

constexpr Table MakeByteTable() {
  Table table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr Table kByteTable = MakeByteTable();

/// Adds one byte to the register, which is the complement of the CRC.
constexpr std::uint32_t TakeByte(std::uint32_t state, unsigned char byte) {
  return (state >> 8U) ^ kByteTable[(state ^ byte) & 0xFFU];
}

#if defined(__ARM_FEATURE_CRC32) || defined(__x86_64__)

#if defined(__ARM_FEATURE_CRC32)
#define TRAINYARD_HAS_CRC
bool HasInstruction() { return true; }
inline std::uint32_t TakeWord(std::uint32_t state, std::uint64_t word) { return __crc32cd(state, word); }
#else
#define TRAINYARD_HAS_CRC __attribute__((target("sse4.2")))
bool HasInstruction() { return __builtin_cpu_supports("sse4.2") != 0; }
TRAINYARD_HAS_CRC inline std::uint32_t TakeWord(std::uint32_t state, std::uint64_t word) {
  return static_cast<std::uint32_t>(_mm_crc32_u64(state, word));
}
#endif

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kLane = 1024;  // bytes; a multiple of kWord

/// Tables for the state after kLane bytes of zero, by each of the state's four bytes: the map is linear.
constexpr std::array<Table, 4> MakeLaneTables() {
  std::array<Table, 4> tables{};
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    std::uint32_t state = 1U << bit;
    for (std::size_t i = 0; i < kLane; ++i) state = TakeByte(state, 0);
    Table& table = tables[bit / 8];
    const std::uint32_t of_bit = 1U << (bit % 8);
    for (std::uint32_t byte = of_bit; byte < 2 * of_bit; ++byte) table[byte] = table[byte - of_bit] ^ state;
  }
  return tables;
}

constexpr std::array<Table, 4> kLaneTables = MakeLaneTables();

std::uint32_t SkipLane(std::uint32_t state) {
  return kLaneTables[0][state & 0xFFU] ^ kLaneTables[1][(state >> 8U) & 0xFFU] ^
         kLaneTables[2][(state >> 16U) & 0xFFU] ^ kLaneTables[3][state >> 24U];
}

std::uint64_t WordAt(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// The instruction has a latency of three cycles but one can start in each cycle: three parallel lanes use it
/// fully.
TRAINYARD_HAS_CRC std::uint32_t TakeByInstruction(std::uint32_t state, std::string_view bytes) {
  for (; bytes.size() >= 3 * kLane; bytes.remove_prefix(3 * kLane)) {
    std::uint32_t second = 0;
    std::uint32_t third = 0;
    for (std::size_t i = 0; i < kLane; i += kWord) {
      state = TakeWord(state, WordAt(bytes.data() + i));
      second = TakeWord(second, WordAt(bytes.data() + kLane + i));
      third = TakeWord(third, WordAt(bytes.data() + 2 * kLane + i));
    }
    state = SkipLane(SkipLane(state) ^ second) ^ third;
  }
  for (; bytes.size() >= kWord; bytes.remove_prefix(kWord)) state = TakeWord(state, WordAt(bytes.data()));
  for (const char byte : bytes) state = TakeByte(state, static_cast<unsigned char>(byte));
  return state;
}

#else

bool HasInstruction() { return false; }
std::uint32_t TakeByInstruction(std::uint32_t state, std::string_view) { return state; }

#endif

}  // namespace

std::uint32_t Crc32cByTable(std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t state = ~before;
  for (const char byte : bytes) state = TakeByte(state, static_cast<unsigned char>(byte));
  return ~state;
}

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  static const bool has_instruction = HasInstruction();
  return has_instruction ? ~TakeByInstruction(~before, bytes) : Crc32cByTable(bytes, before);
}

}  // namespace trainyard
