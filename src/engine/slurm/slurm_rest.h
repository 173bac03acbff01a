#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/guarded.h"
#include "engine/slurm/slurm_client.h"
#include "net/http/client.h"
#include "rules/slurm/rest.h"
#include "rules/slurm/rest_answers.h"

namespace trainyard::engine {

/// The address of slurmrestd, and the account that uses it.
struct SlurmRestOptions {
  http::Endpoint endpoint;
  slurm::JobOwner owner;  ///< the owner of the jobs; with a Unix socket it has to be this process's account
  /// A token of the account, as `scontrol token` prints it ("SLURM_JWT=..." or bare). Read for each request,
  /// since tokens are renewed. Empty: slurmrestd knows the account by its socket.
  std::filesystem::path token_file{};
  std::chrono::milliseconds wait_max{20'000};  ///< for each wait of a request
};

/// Talks to slurmrestd, with the newest version of its interface that both know. The version is determined
/// once, and again when slurmrestd no longer supports it. Each request uses a new connection.
class SlurmRest final : public SlurmClient {
 public:
  explicit SlurmRest(SlurmRestOptions options) : options_(std::move(options)) {}

  [[nodiscard]] SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                 const slurm::GangRequest& request) const override;
  [[nodiscard]] SlurmAnswer<std::vector<slurm::ListedJob>> List(
      std::optional<std::int64_t> id) const override;
  /// Checks the name of each job before it cancels the job.
  [[nodiscard]] SlurmAnswer<void> Cancel(const std::string& name,
                                         std::span<const std::int64_t> ids) const override;
  /// slurmrestd cannot check options: an unknown name is noticed with the first job.
  [[nodiscard]] SlurmAnswer<void> Check(const slurm::Options&) const override { return {}; }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::Node>> Nodes() const override;

 private:
  [[nodiscard]] SlurmAnswer<http::ClientResponse> Send(http::ClientRequest request) const;
  [[nodiscard]] SlurmAnswer<slurm::RestVersion> Version() const;
  /// Returns the body of an answer without an error.
  [[nodiscard]] SlurmAnswer<std::string> Get(const std::string& target) const;
  [[nodiscard]] SlurmAnswer<std::vector<slurm::ListedJob>> ListBy(slurm::RestVersion version,
                                                                  std::optional<std::int64_t> id) const;
  [[nodiscard]] SlurmAnswer<void> CancelOne(slurm::RestVersion version, std::int64_t id) const;

  SlurmRestOptions options_;
  mutable Guarded<std::optional<slurm::RestVersion>> version_;
};

}  // namespace trainyard::engine
