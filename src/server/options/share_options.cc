#include "server/options/share_options.h"

#include <CLI/CLI.hpp>

namespace trainyard::server {

void ShareFlags::AddTo(CLI::App& app) {
  app.add_option("--quota", quotas,
                 "what a project or a user may have at most: project:research:gpus=4, "
                 "user:ann@example.com:jobs=8, project:*:bucket-bytes=1TiB (* is each one without its own), "
                 "project:*:gpus@slurm=16 (on that engine alone); gpus and jobs that run at once wait, "
                 "unfinished-jobs, bucket-bytes and log-bytes refuse; may be given several times")
      ->type_name("SUBJECT:RESOURCE[@ENGINE]=N")
      ->allow_extra_args(false);
  app.add_option("--project-weight", weights,
                 "a project that may use so many times what others may before they go first: research=2; may "
                 "be given several times")
      ->type_name("PROJECT=WEIGHT")
      ->allow_extra_args(false);
}

Status ShareFlags::ReadInto(ShareOptions& options) const {
  TY_TRY(options.quotas, placement::Quotas::Parse(quotas));
  TY_TRY(options.weights, placement::ParseProjectWeights(weights));
  return {};
}

}  // namespace trainyard::server
