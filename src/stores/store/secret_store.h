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

/// The values of jobs' secrets: in separate files, never in the jobs' records. One file per job, mode 0600 in
/// a directory of mode 0700, from before the job is created until it ends. Files are small and written by a
/// separate thread. Loop thread only.
class SecretStore {
 public:
  using Values = std::map<std::string, std::string>;  ///< by name; a value never contains a NUL

  /// Creates the directory. Blocking.
  [[nodiscard]] static Result<std::unique_ptr<SecretStore>> Open(std::string folder);

  /// Writes the values durably before the job has a uid, under a name that its record also has: letters,
  /// digits and '-'. Then call Keep or Drop. kAborted: something is staged under that name.
  boost::asio::awaitable<Status> Stage(std::string name, Values values);
  /// Assigns the staged values to the job.
  boost::asio::awaitable<Status> Keep(std::string name, std::int64_t job_uid);
  boost::asio::awaitable<void> Drop(std::string name);

  /// The values of a job's secrets. kNotFound: the job has none.
  boost::asio::awaitable<Result<Values>> Read(std::int64_t job_uid);
  /// Deletes the values of a job; does nothing if it has none.
  boost::asio::awaitable<Status> Remove(std::int64_t job_uid);
  /// Cleans up after a previous server; call before anything is staged. `jobs`: the unfinished jobs, and the
  /// names under which their values were staged. Values that were staged but not kept are assigned to their
  /// job; those that belong to none of these jobs are deleted: the job ended while no server was running, or
  /// was never created.
  boost::asio::awaitable<Status> TakeOver(std::map<std::int64_t, std::string> jobs);

 private:
  explicit SecretStore(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string PathOf(std::int64_t job_uid) const;
  [[nodiscard]] std::string StagedPath(const std::string& name) const;

  std::string folder_;
  std::set<std::string> staged_;  ///< neither kept nor dropped yet
  boost::asio::thread_pool files_{1};
};

}  // namespace trainyard::store
