#include "api/storage/storage_handlers_range.h"

#include <gtest/gtest.h>

namespace trainyard::api::storage_api::storage_handlers_range_test {
namespace {

const Error kUnsatisfiable{Code::kOutOfRange, "Request range not satisfiable", {}};

struct Row {
  const char* name;
  const char* header;
  std::uint64_t size;
  Result<std::optional<ByteRange>> range;
};
class Ranges : public testing::TestWithParam<Row> {};
TEST_P(Ranges, AreRead) { EXPECT_EQ(ReadRange(GetParam().header, GetParam().size), GetParam().range); }
INSTANTIATE_TEST_SUITE_P(Rfc9110, Ranges,
                         testing::Values(Row{"first_bytes", "bytes=0-4", 10, ByteRange{0, 5}},
                                         Row{"one", "bytes=9-9", 10, ByteRange{9, 1}},
                                         Row{"open", "bytes=4-", 10, ByteRange{4, 6}},
                                         Row{"suffix", "bytes=-3", 10, ByteRange{7, 3}},
                                         Row{"suffix_beyond", "bytes=-30", 10, ByteRange{0, 10}},
                                         Row{"end_beyond", "bytes=8-99", 10, ByteRange{8, 2}},
                                         Row{"huge", "bytes=0-18446744073709551615", 10, ByteRange{0, 10}},
                                         Row{"beyond", "bytes=10-", 10, std::unexpected(kUnsatisfiable)},
                                         Row{"of_nothing", "bytes=0-", 0, std::unexpected(kUnsatisfiable)},
                                         Row{"no_suffix", "bytes=-0", 10, std::unexpected(kUnsatisfiable)},
                                         Row{"backwards", "bytes=5-4", 10, std::nullopt},
                                         Row{"several", "bytes=0-1,4-5", 10, std::nullopt},
                                         Row{"other_unit", "lines=0-1", 10, std::nullopt},
                                         Row{"empty", "", 10, std::nullopt},
                                         Row{"no_numbers", "bytes=-", 10, std::nullopt},
                                         Row{"letters", "bytes=a-b", 10, std::nullopt},
                                         Row{"negative", "bytes=0--1", 10, std::nullopt}),
                         [](const auto& row) { return row.param.name; });

TEST(UploadRange, Forms) {
  EXPECT_EQ(ReadUploadRange("bytes */*"), (UploadRange{}));
  EXPECT_EQ(ReadUploadRange("bytes */9"), (UploadRange{.total = 9}));
  EXPECT_EQ(ReadUploadRange("bytes 0-8/9"), (UploadRange{0, 8, 9}));
  EXPECT_EQ(ReadUploadRange("bytes 5-8/*"), (UploadRange{.first = 5, .last = 8}));
  EXPECT_EQ(ReadUploadRange("bytes 0-*/*"), (UploadRange{.first = 0}));
  EXPECT_EQ(ReadUploadRange("bytes 5-*/9"), (UploadRange{.first = 5, .total = 9}));
}

TEST(UploadRange, Refusals) {
  for (const char* header : {"", "bytes", "bytes 0-8", "0-8/9", "bytes 8-0/9", "bytes 0-9/9", "bytes a-8/9",
                             "bytes 0-8/", "bytes -8/9", "bytes=0-8/9", "bytes 0-99999999999999999999/*"}) {
    const Error error = InvalidArgument({}, "Failed to parse Content-Range header: " + std::string(header));
    EXPECT_EQ(ReadUploadRange(header), std::unexpected(error)) << header;
  }
}

}  // namespace
}  // namespace trainyard::api::storage_api::storage_handlers_range_test
