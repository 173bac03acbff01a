#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/packing/archive_writer.h"

namespace trainyard::packing {
namespace {

const SysTime kTime{std::chrono::seconds(1'700'000'000)};

TEST(TarWriter, IsReadByLibarchive) {
  const std::unique_ptr<ArchiveWriter> writer = MakeTarWriter();
  const std::string long_name = "t/" + std::string(600, 'n') + "/\u00fc";
  std::string tar;
  ASSERT_TRUE(writer->Begin({.name = "t/d/", .modified = kTime}, tar));
  ASSERT_TRUE(writer->End(tar));
  for (const std::string& name : {std::string("t/a"), long_name}) {
    ASSERT_TRUE(writer->Begin({.name = name, .bytes = 10, .modified = kTime}, tar));
    ASSERT_TRUE(writer->Add("01234", tar));
    ASSERT_TRUE(writer->Add("56789", tar));
    ASSERT_TRUE(writer->End(tar));
  }
  ASSERT_TRUE(writer->Finish(tar));
  ::archive* reader = ::archive_read_new();
  ::archive_read_support_format_tar(reader);
  ASSERT_EQ(::archive_read_open_memory(reader, tar.data(), tar.size()), ARCHIVE_OK);
  ::archive_entry* entry = nullptr;
  for (const std::string& name : {std::string("t/d/"), std::string("t/a"), long_name}) {
    ASSERT_EQ(::archive_read_next_header(reader, &entry), ARCHIVE_OK);
    EXPECT_EQ(::archive_entry_pathname(entry), name);
    EXPECT_EQ(::archive_entry_mtime(entry), 1'700'000'000);
    char bytes[20] = {};
    EXPECT_EQ(::archive_read_data(reader, bytes, sizeof bytes), name.ends_with('/') ? 0 : 10);
    EXPECT_STREQ(bytes, name.ends_with('/') ? "" : "0123456789");
  }
  EXPECT_EQ(::archive_read_next_header(reader, &entry), ARCHIVE_EOF);
  ::archive_read_free(reader);
}

TEST(ArchiveWriters, TakeWhatWasSaid) {
  for (const auto make : {MakeTarWriter, MakeZipWriter}) {
    std::string out;
    std::unique_ptr<ArchiveWriter> writer = make();
    ASSERT_TRUE(writer->Begin({.name = "a", .bytes = 3, .modified = kTime}, out));
    EXPECT_EQ(writer->Add("1234", out).error().code, Code::kDataLoss);
    writer = make();
    ASSERT_TRUE(writer->Begin({.name = "a", .bytes = 3, .modified = kTime}, out));
    ASSERT_TRUE(writer->Add("12", out));
    EXPECT_EQ(writer->End(out).error().code, Code::kDataLoss);
  }
}

}  // namespace
}  // namespace trainyard::packing
