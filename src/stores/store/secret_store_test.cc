#include "stores/store/secret_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/async/testing/temporary_folder.h"

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
  ASSERT_TRUE(Await(store->Stage("a", values)));
  ASSERT_TRUE(Await(store->Keep("a", 7)));
  EXPECT_EQ(Await(store->Read(7)), values);
  EXPECT_EQ(Await(Open()->Read(7)), values);  // a later server's
  EXPECT_EQ(Await(store->Read(8)).error().code, Code::kNotFound);
  EXPECT_EQ(Mode(folder_), 0700);
  EXPECT_EQ(Mode(folder_ + "/7"), 0600);
}

TEST_F(SecretStoreTest, WhoCreatesAJobIsNotToldWhereTheyAre) {
  const auto store = Open();
  ASSERT_TRUE(Await(store->Stage("a", {{"TOKEN", "x"}})));
  std::filesystem::remove_all(folder_);
  for (const Status& refused : {Await(store->Stage("b", {{"TOKEN", "x"}})), Await(store->Keep("a", 7))}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(),
              (Unavailable("the job's secrets cannot be stored; the server's log says why")));
  }
}

TEST_F(SecretStoreTest, EndWithTheirJob) {
  const auto store = Open();
  for (const std::int64_t uid : {7, 8, 9}) {
    ASSERT_TRUE(Await(store->Stage("a", {{"TOKEN", "value" + std::to_string(uid)}})));
    ASSERT_TRUE(Await(store->Keep("a", uid)));
  }
  ASSERT_TRUE(Await(store->Remove(7)));
  ASSERT_TRUE(Await(store->Remove(7)));
  EXPECT_EQ(Await(store->Read(7)).error().code, Code::kNotFound);
  ASSERT_TRUE(Await(store->TakeOver({{9, "a"}})));
  EXPECT_EQ(Await(store->Read(8)).error().code, Code::kNotFound);
  EXPECT_EQ(Await(store->Read(9)), (Values{{"TOKEN", "value9"}}));
}

TEST_F(SecretStoreTest, AreStagedOnceUnderAName) {
  const auto store = Open();
  ASSERT_TRUE(Await(store->Stage("a", {{"TOKEN", "first"}})));
  EXPECT_EQ(Await(store->Stage("a", {{"TOKEN", "second"}})).error().code, Code::kAborted);
  ASSERT_TRUE(Await(store->Keep("a", 7)));
  EXPECT_EQ(Await(store->Read(7)), (Values{{"TOKEN", "first"}}));
  ASSERT_TRUE(Await(store->Stage("a", {{"TOKEN", "third"}}))) << "the name is free";
}

TEST_F(SecretStoreTest, OfACreateThatAKillCutOffAreItsJobsAtTheNextStart) {
  ASSERT_TRUE(Await(Open()->Stage("created", {{"TOKEN", "value"}})));
  const auto store = Open();
  ASSERT_TRUE(Await(store->TakeOver({{7, "created"}, {8, "without-secrets"}})));
  EXPECT_EQ(Await(store->Read(7)), (Values{{"TOKEN", "value"}}));
  EXPECT_EQ(Await(store->Read(8)).error().code, Code::kNotFound);
  ASSERT_TRUE(Await(store->TakeOver({{7, "created"}})));
  EXPECT_EQ(Await(store->Read(7)), (Values{{"TOKEN", "value"}})) << "the second start after it";
  EXPECT_EQ(Mode(folder_ + "/7"), 0600);
}

TEST_F(SecretStoreTest, ThatWereStagedForNoJobAreRemovedAtTheNextStart) {
  ASSERT_TRUE(Await(Open()->Stage("never-created", {{"TOKEN", "value"}})));
  std::ofstream(folder_ + "/.new-half-written.a1b2c3") << "TOKEN=val";  // killed while it was written
  EXPECT_FALSE(std::filesystem::is_empty(folder_));
  ASSERT_TRUE(Await(Open()->TakeOver({{7, "another"}})));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace trainyard::store
