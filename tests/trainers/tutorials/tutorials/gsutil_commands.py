"""What early samples did: every file goes through the command gsutil, started in each of the usual ways."""

import os
import subprocess
import sys

data, job_dir = sys.argv[1], sys.argv[sys.argv.index("--job-dir") + 1]
subprocess.check_call(["gsutil", "-m", "cp", "-r", data, "."], stderr=sys.stdout)
names = sorted(os.listdir("parts"))
numbers = [int(line) for name in names for line in open(os.path.join("parts", name))]
os.makedirs("model/variables")
with open("model/variables/sum.txt", "w") as file:
    file.write(str(sum(numbers)))
assert os.system(f"gsutil -q cp -r model {job_dir}/") == 0
with subprocess.Popen(["gsutil", "cp", "-", f"{job_dir}/names.txt"], stdin=subprocess.PIPE, text=True) as piped:
    piped.communicate("\n".join(names))
listed = subprocess.check_output(["gsutil", "ls", "-r", f"{job_dir}/**"], text=True).split()
assert f"{job_dir}/model/variables/sum.txt" in listed, listed
assert subprocess.call(["gsutil", "-q", "stat", f"{job_dir}/nothing"]) == 1
subprocess.run(f"gsutil cat {job_dir}/names.txt | wc -l | gsutil cp - {job_dir}/lines.txt", shell=True, check=True)
