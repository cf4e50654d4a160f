typedef struct sim_dir DIR;
