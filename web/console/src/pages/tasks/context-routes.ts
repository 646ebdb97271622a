const base = (taskId: string): string => `/tasks/${encodeURIComponent(taskId)}/context`;

export const callsPath = base;
export const callPath = (taskId: string, call: number): string => `${base(taskId)}/${call}`;
export const diffPath = (taskId: string): string => `${base(taskId)}/diff`;
