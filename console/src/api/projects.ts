/** GET /v1/projects, as Cloud Resource Manager v1 has it. */
export interface ProjectListJson {
  projects?: { projectId: string; name?: string }[];
}
