/* What the cuPVA programs of this folder run: 256 bytes come in (by the dataflow that `job` names),
   `summand` is added to each, and they go out. */
#include <cupva_device.h>

VMEM(A, int32_t, job);
VMEM(A, int32_t, summand);
VMEM(A, uint8_t, input, 256);
VMEM(B, uint8_t, output, 256);
VMEM(C, uint32_t, input_handler);
VMEM(C, uint32_t, second_handler);
VMEM(C, uint32_t, output_handler);
VMEM_SEQDF_HANDLER(C, sequence);
VMEM_GSDF_HANDLER(C, gather, 4);
VMEM(C, int32_t, columns, 4);
VMEM(C, int32_t, rows, 4);

static void move(uint32_t handler)
{
    cupvaDataFlowTrig(handler);
    cupvaDataFlowSync(handler);
}

/* Two pictures one after the other in the same buffer; their sum is what goes on. */
static void mix(void)
{
    move(input_handler);
    for (int32_t i = 0; i < 256; i++)
        output[i] = input[i];
    move(second_handler);
    for (int32_t i = 0; i < 256; i++)
        input[i] += output[i];
}

static void run_sequence(void)
{
    cupvaSQDFOpen(sequence);
    cupvaSQDFTrig(sequence);
    cupvaSQDFSync(sequence);
    cupvaSQDFClose(sequence);
}

/* Four tiles of 8 x 8 pixels, from where the host said, behind each other. */
static void gather_tiles(void)
{
    cupvaGSDFOpen(gather, input, 8, 64);
    for (int32_t i = 0; i < 4; i++)
        cupvaGSDFUpdateTile(gather, i, columns[i], rows[i], 8, 8);
    cupvaGSDFTrig(gather);
    cupvaGSDFSync(gather);
    cupvaGSDFClose(gather);
}

CUPVA_VPU_MAIN()
{
    switch (job) {
    case 'm':
        mix();
        break;
    case 's':
        run_sequence();
        break;
    case 'g':
        gather_tiles();
        break;
    default:
        move(input_handler);
    }
    for (int32_t i = 0; i < 256; i++)
        output[i] = (uint8_t)(input[i] + summand);
    move(output_handler);
    return 0;
}
