#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"

namespace trainyard::store {

/// The values of jobs' secrets: beside the records, never in them. One file a job, mode 0600 in a folder of
/// mode 0700, from before the job is created until it ends. Files are small and written by one thread of its
/// own. Loop thread only.
class SecretStore {
 public:
  using Values = std::map<std::string, std::string>;  ///< by name; no value has a NUL

  /// Makes the folder and removes what was staged and never kept. Blocking.
  [[nodiscard]] static Result<std::unique_ptr<SecretStore>> Open(std::string folder);

  /// Writes the values durably, before the job has a uid. Returns the name to keep or drop them by.
  boost::asio::awaitable<Result<std::string>> Stage(Values values);
  /// From now on they are the job's.
  boost::asio::awaitable<Status> Keep(std::string staged, std::int64_t job_uid);
  boost::asio::awaitable<void> Drop(std::string staged);

  /// kNotFound: the job has none.
  boost::asio::awaitable<Result<Values>> Read(std::int64_t job_uid);
  /// Nothing for a job that has none.
  boost::asio::awaitable<Status> Remove(std::int64_t job_uid);
  /// Those of all other jobs are removed: they ended while no server was there.
  boost::asio::awaitable<Status> RemoveAllBut(std::set<std::int64_t> job_uids);

 private:
  explicit SecretStore(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  std::int64_t staged_ = 0;  ///< so far; part of the names
  boost::asio::thread_pool files_{1};
};

}  // namespace trainyard::store
