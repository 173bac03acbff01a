#include "store/secret_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>

#include "async/testing/temporary_folder.h"

namespace trainyard::store {
namespace {

using Values = SecretStore::Values;

class SecretStoreTest : public testing::Test {
 protected:
  template <class T>
  T Await(boost::asio::awaitable<T> task) {
    std::optional<T> result;
    boost::asio::co_spawn(loop_, std::move(task), [&](const std::exception_ptr& error, T value) {
      if (error) std::rethrow_exception(error);
      result = std::move(value);
    });
    loop_.restart();
    loop_.run();
    return *std::move(result);
  }
  static int Mode(const std::string& path) {
    struct stat found{};
    return stat(path.c_str(), &found) == 0 ? static_cast<int>(found.st_mode & 0777) : -1;
  }
  std::unique_ptr<SecretStore> Open() { return *SecretStore::Open(folder_); }

  TemporaryFolder dir_;
  std::string folder_ = dir_.path() + "/secrets";
  boost::asio::io_context loop_;
};

TEST_F(SecretStoreTest, AreKeptForTheirJobAloneAndOnlyForTheServersAccount) {
  const auto store = Open();
  const Values values = {{"TOKEN", "a\nb=c"}, {"EMPTY_LINES", "\n\n x"}};
  const auto staged = Await(store->Stage(values));
  ASSERT_TRUE(staged);
  ASSERT_TRUE(Await(store->Keep(*staged, 7)));
  EXPECT_EQ(Await(store->Read(7)), values);
  EXPECT_EQ(Await(Open()->Read(7)), values);  // a later server's
  EXPECT_EQ(Await(store->Read(8)).error().code, Code::kNotFound);
  EXPECT_EQ(Mode(folder_), 0700);
  EXPECT_EQ(Mode(folder_ + "/7"), 0600);
}

TEST_F(SecretStoreTest, EndWithTheirJob) {
  const auto store = Open();
  for (const std::int64_t uid : {7, 8, 9}) {
    const auto staged = Await(store->Stage({{"TOKEN", "value" + std::to_string(uid)}}));
    ASSERT_TRUE(Await(store->Keep(*staged, uid)));
  }
  ASSERT_TRUE(Await(store->Remove(7)));
  ASSERT_TRUE(Await(store->Remove(7)));
  EXPECT_EQ(Await(store->Read(7)).error().code, Code::kNotFound);
  ASSERT_TRUE(Await(store->RemoveAllBut({9})));
  EXPECT_EQ(Await(store->Read(8)).error().code, Code::kNotFound);
  EXPECT_EQ(Await(store->Read(9)), (Values{{"TOKEN", "value9"}}));
}

TEST_F(SecretStoreTest, ThatWereStagedForNoJobAreRemovedAtTheNextStart) {
  ASSERT_TRUE(Await(Open()->Stage({{"TOKEN", "value"}})));
  EXPECT_FALSE(std::filesystem::is_empty(folder_));
  const auto store = Open();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace trainyard::store
